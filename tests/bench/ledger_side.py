"""One side of the ledger's figures: one database of one size, in a process of its own.

`python -m tests.bench.ledger_side DATABASE_URL ENTRIES FOLDER` seeds the archive there if it is
not there yet, and answers questions, each a line of JSON. Times are processor time in milliseconds,
of the portal on one core and of PostgreSQL together: what others do on the machine does not count.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import psutil
from asgiref.sync import sync_to_async

WARM = 3
SLICE = 20  # of how many stretches the memory is looked at


def main() -> None:
    url, entries, folder = sys.argv[1:]
    prepare(url, folder)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    answers = answer_questions(seed_large_team(int(entries)))
    for line in sys.stdin:
        name, *rest = json.loads(line)
        print(json.dumps(answers[name](*rest)), flush=True)


def prepare(url: str, folder: str) -> None:
    os.environ |= {"DATABASE_URL": url, "REELROOM_VAR": folder, "LOG_LEVEL": "CRITICAL"}
    os.environ["REDIS_URL"] = f"unix://{folder}/none.sock"
    os.environ["VIDEO_API_BASE_URL"] = "http://127.0.0.1:8001/v2"
    os.environ["DJANGO_SETTINGS_MODULE"] = "tests.bench.ledger_settings"
    from django.core.management import call_command

    import dashboard.asgi  # noqa: F401 - as the web server starts

    call_command("migrate", verbosity=0)


def seed_large_team(entries: int) -> Any:
    from django.db import connection

    from dashboard.demo.large_team.build import ARCHIVE_TEAM_NAME, SeedSize, seed_team
    from dashboard.models import Team, User

    team = Team.objects.filter(name=ARCHIVE_TEAM_NAME).first()
    if team is None:
        owner = User.objects.create_user("ada@archive.example", None, name="Ada Archer")
        team = seed_team(SeedSize(entries=entries, jobs=entries // 10), owner)
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")  # what autovacuum does within minutes
    return team


def answer_questions(team: Any) -> Mapping[str, Callable[..., Any]]:
    from django.test import Client

    browser = Client()
    browser.force_login(team.memberships.first().user)
    pages = page_addresses(team)
    return {
        "names": lambda: list(pages),
        "queries": lambda page: count_queries(browser, pages[page]),
        "times": lambda page, rounds: measure_page_times(browser, pages[page], rounds),
        "export": lambda: asyncio.run(measure_export(team)),
    }


def page_addresses(team: Any) -> dict[str, str]:
    from proxyapi.models import Account, LedgerEntry

    account = Account.objects.filter(tenant=team.tenant).earliest("created_at")
    entry = LedgerEntry.objects.filter(account=account, charge__isnull=False).latest("position")
    middle = LedgerEntry.objects.filter(account=account, position=account.ledger.high // 2).get()
    place = f"{middle.happened_at.timestamp():.6f}.{account.pk.hex}.{middle.position}"
    return {
        "ledger, 30 days": "/ledger/",
        "ledger, everything": "/ledger/?period=all",
        "one account": f"/ledger/?account={account.pk}",
        "a page in the middle": f"/ledger/?period=all&after={place}",
        "one account, in the middle": f"/ledger/?period=all&account={account.pk}&after={place}",
        "one member": f"/ledger/?period=all&member={entry.member_id}",
        "one video": f"/ledger/?period=all&job={entry.job_id}",
        "one feature": f"/ledger/?period=all&feature={entry.operation}",
        "a rare content type": "/ledger/?period=all&content_type=voice-clone",
        "a search": "/ledger/?q=glaciers",
        "a search in vain": "/ledger/?q=zebra",
        "credits in": "/ledger/?period=all&direction=in",
        "not by the API": "/ledger/?period=all&source=web",
        "outside the portal": "/ledger/?match=no&direction=out",
        "oldest first, by feature": "/ledger/?period=365d&sort=oldest&by=feature",
        "rows that look again": "/ledger/?part=entries&known=1",
        "charts": "/ledger/charts/",
        "charts of everything": "/ledger/charts/?period=all",
        "one entry": f"/ledger/{account.pk}/{entry.position}/",
        "overview": "/",
        "overview, its questions": "/?part=attention",
        "overview, how close estimates were": "/costs/estimate-accuracy/",
        "costs": "/costs/",
        "reconciliation": "/reconciliation/",
        "forecast": "/forecast/",
    }


def count_queries(browser: Any, address: str) -> int:
    """How many a page takes that was asked for before."""
    from django.db import connection

    asked: list[str] = []

    def count(execute: Any, sql: str, *rest: Any) -> Any:
        asked.append(sql)
        return execute(sql, *rest)

    for _ in range(WARM):
        assert browser.get(address).status_code == 200, address
    with connection.execute_wrapper(count):
        browser.get(address)
    return len(asked)


def measure_page_times(browser: Any, address: str, rounds: int) -> list[tuple[float, float]]:
    """Of each time: processor time, that of PostgreSQL evenly added, and time by the clock."""
    took, before = [], database_cpu_seconds()
    for _ in range(rounds):
        started, worked = time.perf_counter(), time.process_time()
        browser.get(address)
        took.append((time.process_time() - worked, time.perf_counter() - started))
    beside = (database_cpu_seconds() - before) / rounds
    return [(1000 * (worked + beside), 1000 * clock) for worked, clock in took]


def database_cpu_seconds() -> float:
    """Processor seconds that the database's processes have worked for this one."""
    from django.db import connection

    if connection.vendor != "postgresql":
        return 0.0
    with connection.cursor() as cursor:
        cursor.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()")
        pids = [pid for (pid,) in cursor.fetchall()]
    return sum(process_cpu_seconds(pid) for pid in pids)


def process_cpu_seconds(pid: int) -> float:
    """Linux counts it to the nanosecond; elsewhere a hundredth of a second has to do."""
    exact = Path(f"/proc/{pid}/schedstat")
    if exact.exists():
        return int(exact.read_text().split()[0]) / 1e9
    return sum(psutil.Process(pid).cpu_times()[:2])


async def measure_export(team: Any) -> dict[str, float]:
    """The whole ledger as a file: rows in a second, and how much the memory grew over it."""
    from dashboard.ledger.queries import csv_export
    from dashboard.ledger.queries.filters import LedgerFilters
    from dashboard.shared.lists import stream_chunks

    memory, rows, parts = [], -1, 0  # without the head
    beside = sync_to_async(database_cpu_seconds)
    before = await beside()
    started, worked = time.perf_counter(), time.process_time()
    build = partial(csv_export.build_export_source, team, LedgerFilters(period="all"))
    chunks = (csv_export.export_csv_header, csv_export.export_csv_chunk)
    async for text in stream_chunks(build, *chunks):
        rows += text.count("\r\n")
        parts += 1
        if parts % SLICE == 1:
            memory.append(psutil.Process().memory_info().rss / 1e6)
    took, busy = time.perf_counter() - started, time.process_time() - worked
    return {
        "rows": rows,
        "rate": rows / took,
        "busy": rows / (busy + await beside() - before),
        "grew": max(memory) - memory[min(1, len(memory) - 1)],
        "peak": max(memory),
    }


if __name__ == "__main__":
    main()
