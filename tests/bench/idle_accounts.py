"""What 501 idle accounts cost: twenty-four of them on a simulated clock, scaled.

Twice, in a process each: as they are, and with every account taken as active, as all were before
docs/decisions/0039-idle-ledgers-are-read-rarely.md. Tasks run at once, in the process that counts
its own processor time; the service answers within it, so a request costs what the portal does.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import httpx
import time_machine

from dashboard.up import valkey
from tests.bench.streams import run_process, web_environment

ACCOUNTS, TEAMS, SHOWN = 24, 8, 501
START = datetime(2026, 11, 2, 9, tzinfo=UTC)
WARM_MINUTES = 3
COUNTED_MINUTES = {"always fresh": 10, "idle rule": 30}  # as long as what is read most rarely
MAX_REQUESTS, MAX_PROCESSOR_S, MAX_ROWS = 100, 6.0, 20_000
SIDES = tuple(COUNTED_MINUTES)
HEADS = ("501 idle accounts", *SIDES, "wanted", "")
LEDGER_ROW = {
    "label": "Script generation",
    "content_type": "content-prompt",
    "credit_spend": "-4",
    "transaction_type": "Debit",
    "created_at": "2026-10-02T09:00:00Z",
}


class SideFigures(NamedTuple):
    """Of one minute, scaled; `rows_kept`: rows of calls that pruning leaves after a day."""

    requests: float
    processor_s: float
    rows_kept: float


def main(folder: Path) -> bool:
    """Print the table; whether the idle rule holds what is wanted."""
    always, idle = (measure_in_process(folder / side.replace(" ", "-"), side) for side in SIDES)
    rows = (
        ("requests to the service a minute", 0, MAX_REQUESTS),
        ("processor, s a minute", 1, MAX_PROCESSOR_S),
        ("rows of calls kept", 2, MAX_ROWS),
    )
    for cells in (HEADS, ["---"] * len(HEADS)):
        print(f"| {' | '.join(cells)} |")
    for name, place, wanted in rows:
        values = f"{always[place]:,.1f} | {idle[place]:,.1f} | at most {wanted:,}"
        print(f"| {name} | {values} | {'ok' if idle[place] <= wanted else 'FALLS SHORT'} |")
    minutes = " and ".join(map(str, COUNTED_MINUTES.values()))
    print(f"\n{ACCOUNTS} accounts for {minutes} simulated minutes, scaled to {SHOWN}.\n")
    return all(idle[place] <= wanted for _, place, wanted in rows)


def measure_in_process(folder: Path, side: str) -> SideFigures:
    folder.mkdir(exist_ok=True)
    store_path = folder / valkey.SOCKET_NAME
    environ = web_environment(folder, store_path)
    command = [sys.executable, "-m", "tests.bench.idle_accounts", side]
    with run_process(valkey.valkey_command(store_path), environ):
        done = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)
    return SideFigures(*json.loads(done.stdout))


def measure(side: str) -> SideFigures:
    from proxyapi import call_retention, calls, tasks
    from proxyapi.ledger import activity
    from proxyapi.models import ApiCall
    from proxyapi.operations import OPERATIONS
    from proxyapi.rate_limiter import Permit
    from proxyapi.upstream.client import UpstreamClient

    requests, minutes = Counter[str](), COUNTED_MINUTES[side]
    transport = httpx.MockTransport(lambda request: answer(request, requests))
    client = UpstreamClient(os.environ["VIDEO_API_BASE_URL"], OPERATIONS, transport=transport)
    kept_for = call_retention.READS_KEPT_FOR["failures"]
    with ExitStack() as stack, time_machine.travel(START, tick=False) as clock:
        stack.enter_context(patch.object(calls, "upstream_client", lambda: client))
        stack.enter_context(patch.object(calls, "acquire_permit", lambda *_, **__: Permit(True, 0)))
        for task in (tasks.sync_ledger_task, tasks.refresh_account_task, tasks.refresh_top_up_task):
            stack.enter_context(patch.object(task, "delay", task.run))
        if side == SIDES[0]:
            stack.enter_context(patch.object(activity, "is_idle", lambda *_: False))
        create_accounts()
        pass_minutes(clock, WARM_MINUTES)
        requests.clear()
        written, processor_s = -ApiCall.objects.count(), -time.process_time()
        pass_minutes(clock, minutes)
        written, processor_s = written + ApiCall.objects.count(), processor_s + time.process_time()
        clock.shift(kept_for)
        call_retention.prune_old_calls()
        newest = ApiCall.objects.count()  # one of each token
    scale = SHOWN / ACCOUNTS
    return SideFigures(
        requests.total() / minutes * scale,
        processor_s / minutes * scale,
        (written / minutes * (kept_for / timedelta(minutes=1)) + newest) * scale,
    )


def answer(request: httpx.Request, requests: Counter[str]) -> httpx.Response:
    """The service to an account that does nothing."""
    path = request.url.path.removeprefix("/v2")
    requests[path] += 1
    meta: dict[str, Any] = {}
    data: object = []
    if path == "/credits/history":
        page = int(request.url.params["page"])
        data, meta = [LEDGER_ROW] if page == 1 else [], {"total": 1, "per_page": 50}
        meta["current_page"] = page
    elif path == "/me":
        data = {"id": 7, "credits": {"remaining": "1000", "total": 1200, "extra": 0}}
    elif "top" in path:
        data = {"enabled": False, "consecutive_failures": 0}
    body = {"message": "OK", "status": 200, "data": data, "meta": meta}
    return httpx.Response(200, json=body)


def create_accounts() -> None:
    from proxyapi.models import Account, AccountPlan
    from tests.factories import AccountFactory, MembershipFactory, TokenFactory

    for _ in range(TEAMS):
        member = MembershipFactory.create()
        for _ in range(ACCOUNTS // TEAMS):
            tenant = member.team.tenant
            account = AccountFactory.create(tenant=tenant, balance=Decimal(1000))
            TokenFactory.create(account=account, owner=member.user)
    created_at = START - timedelta(days=90)
    Account.objects.update(created_at=created_at, plan=AccountPlan.PAID, options_as_of=START)


def pass_minutes(clock: time_machine.Traveller, minutes: int) -> None:
    """What beat sends in this time."""
    from proxyapi import tasks

    for second in range(0, minutes * 60, 5):
        tasks.sync_due_ledgers()
        if second % 15 == 0:
            tasks.sweep_top_ups()
        if second % 60 == 0:
            tasks.refresh_due_accounts()
        clock.shift(5)


if __name__ == "__main__":
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)
    print(json.dumps(measure(sys.argv[1])))
