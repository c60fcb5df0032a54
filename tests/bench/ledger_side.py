"""One side of the ledger's figures: one database of one size, in a process of its own.

`python -m tests.bench.ledger_side DATABASE_URL ENTRIES FOLDER` seeds the archive there if it is
not there yet, and prints what it measured as JSON. Times are processor time in milliseconds, of the
portal on one core and, averaged, of PostgreSQL: what others do on the machine does not count.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import psutil

ROUNDS, WARM = 40, 3
SLICE = 20  # of how many stretches the memory is looked at


def main() -> None:
    url, entries, folder = sys.argv[1:]
    prepare(url, folder)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    team = seeded(int(entries))
    print(json.dumps({"pages": pages(team), "export": asyncio.run(export(team))}))


def prepare(url: str, folder: str) -> None:
    os.environ |= {"DATABASE_URL": url, "REELROOM_VAR": folder, "LOG_LEVEL": "CRITICAL"}
    os.environ["REDIS_URL"] = f"unix://{folder}/none.sock"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.ledger_settings"
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def seeded(entries: int) -> Any:
    from dashboard.archive.team import NAME, Size, make
    from dashboard.models import Team, User

    team = Team.objects.filter(name=NAME).first()
    if team is None:
        owner = User.objects.create_user("ada@archive.example", None, name="Ada Archer")
        team = make(Size(entries=entries, jobs=entries // 10), owner)
    return team


def pages(team: Any) -> dict[str, dict[str, float]]:
    """Of each page: queries, processor time in the middle and that 19 in 20 stay under, and the
    latter by the clock."""
    from django.test import Client

    browser = Client()
    browser.force_login(team.memberships.first().user)
    measured = {}
    for name, address in addresses(team).items():
        for _ in range(WARM):
            assert browser.get(address).status_code == 200, address
        measured[name] = measure(lambda address=address: browser.get(address))  # type: ignore[misc]
    return measured


def addresses(team: Any) -> dict[str, str]:
    from proxyapi.models import Account, Entry

    account = Account.objects.filter(vault=team.vault).earliest("created_at")
    entry = Entry.objects.filter(account=account, charge__isnull=False).latest("position")
    middle = Entry.objects.filter(account=account, position=account.ledger.high // 2).get()
    place = f"{middle.happened_at.timestamp():.6f}.{account.pk.hex}.{middle.position}"
    return {
        "ledger, 30 days": "/ledger/",
        "ledger, everything": "/ledger/?period=all",
        "one account": f"/ledger/?account={account.pk}",
        "a page in the middle": f"/ledger/?period=all&after={place}",
        "one member": f"/ledger/?period=all&member={entry.member_id}",
        "one video": f"/ledger/?period=all&job={entry.job_id}",
        "a rare label": "/ledger/?period=all&label=Voice+clone+slot",
        "outside the portal": "/ledger/?match=no&direction=out",
        "oldest first, by feature": "/ledger/?period=365d&sort=oldest&by=feature",
        "rows that look again": "/ledger/?part=entries&known=1",
        "charts": "/ledger/charts/",
        "charts of everything": "/ledger/charts/?period=all",
        "one entry": f"/ledger/{account.pk}/{entry.position}/",
    }


def measure(work: Callable[[], Any]) -> dict[str, float]:
    from django.db import connection

    asked: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    with connection.execute_wrapper(count):
        work()
    took, clock, before = [], [], elsewhere()
    for _ in range(ROUNDS):
        started, worked = time.perf_counter(), time.process_time()
        work()
        took.append(1000 * (time.process_time() - worked))
        clock.append(1000 * (time.perf_counter() - started))
    beside = 1000 * (elsewhere() - before) / ROUNDS
    return {
        "queries": len(asked),
        "median": statistics.median(took) + beside,
        "p95": p95(took) + beside,
        "clock": p95(clock),
    }


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]


def elsewhere() -> float:
    """Processor seconds that the database's processes have worked for this one."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        pids = [pid for (pid,) in cursor.fetchall()]
    return sum(sum(psutil.Process(pid).cpu_times()[:2]) for pid in pids)


async def export(team: Any) -> dict[str, float]:
    """The whole ledger as a file: rows in a second, and how much the memory grew over it."""
    from dashboard.queries.ledger.filters import Filters
    from dashboard.views.ledger_export import written

    memory, rows, parts = [], -1, 0
    started, worked = time.perf_counter(), time.process_time()
    async for text in written(team, Filters(period="all")):
        rows += text.count("\r\n")
        parts += 1
        if parts % SLICE == 1:
            memory.append(psutil.Process().memory_info().rss / 1e6)
    took, busy = time.perf_counter() - started, time.process_time() - worked
    grew = max(memory) - memory[min(1, len(memory) - 1)]
    return {"rows": rows, "rate": rows / took, "busy": rows / busy, "grew": max(0.0, grew)}


if __name__ == "__main__":
    main()
