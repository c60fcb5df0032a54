"""A token for each charging operation, through every fault and a service that quotes it, and
one through every death: none gets out.

Their characters are such that JSON, HTML and addresses write them otherwise. What is searched, and
how they may be written there: tests/leak_search.py, tests/leaks.py; the last figure counts it.
"""

from __future__ import annotations

import os
import secrets
import string
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import NamedTuple

import httpx
import redis
from django.conf import settings
from django.db import connection

from proxyapi import tasks
from proxyapi.failpoints import FAILPOINTS
from proxyapi.models import Tenant
from proxyapi.operations import OPERATIONS
from tests.admission import admit_charge
from tests.browser.canaries import scan_redis
from tests.drills.charging import token_echoes
from tests.drills.charging.team_pages import scan_team_pages
from tests.drills.charging.test_kills import run_round
from tests.drills.charging.worker_control import running_process_factory
from tests.drills.figures import Figures
from tests.leak_search import scan_all_stores
from tests.leaks import Canaries
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import open_sandbox_account, work_until_settled

# One for each charging operation, and one for the deaths.
TOKENS = int(os.environ.get("DRILL_CANARIES", len(INTENT_MAKERS) + 1))
LANES = 6
LOOKED_AT = 1.0  # seconds; what becomes of it is another drill's
ALPHABET = string.ascii_letters + string.digits + "|/+&<>\"'=.~"
# What the search must have looked into; the rest is more.
PLACES = frozenset(
    {
        *("a command to Redis", "a key of Redis", "a value in Redis", "the log of a process"),
        *("an error of a call and its variables", "a page", "the CSV file"),
        *("an answer as the client gives it", "a header of a page", "the body of a webhook"),
        *("a mail", "the table proxyapi_apicall", "the table proxyapi_token"),
        *("the table proxyapi_charge", "the table proxyapi_job", "the table proxyapi_draft"),
        "the table dashboard_alertevent",
    }
)


class CanaryTurn(NamedTuple):
    number: int
    token: str
    operation: str


class CanaryResult(NamedTuple):
    faults: int
    echoes: int


def test_no_token_gets_out(
    control: httpx.Client, faulty_transport: FaultyTransport, sandbox: str, canaries: Canaries
) -> None:
    figures = Figures(f"{TOKENS} tokens")
    names = list(INTENT_MAKERS)
    turns = [CanaryTurn(n, make_turns(), names[n % len(names)]) for n in range(TOKENS - 1)]
    control.post("reset", json={})
    with scanned_commands(canaries):
        with ThreadPoolExecutor(LANES) as pool:
            play = partial(play_turn, control, faulty_transport, seed=figures.seed)
            done = list(pool.map(play, turns))
        deaths = kill_processes(control, sandbox)
        pages = sum(scan_team_pages(canaries, tenant) for tenant in Tenant.objects.all())
    scan_all_stores(canaries)
    leaked = canaries.leaked_tokens()
    missed = PLACES - {name for name, n in canaries.searched.items() if n}
    faults, echoes = sum(one.faults for one in done), sum(one.echoes for one in done)
    figures.report(
        f"{faults} faults, {echoes} answers that quote the token, {deaths} deaths, {pages} pages",
        f"{len(FAULTS)} faults of {len(turns)} operations, {len(FAILPOINTS)} deaths",
        holds=faults == len(FAULTS) * len(turns) and deaths == len(FAILPOINTS),
    )
    left_out = charging_operations() - {turn.operation for turn in turns}
    figures.report(
        f"{len(left_out)} of {len(charging_operations())} charging operations left out",
        "0",
        holds=not left_out,
        found=sorted(left_out),
    )
    figures.report(
        f"{canaries.scanned_summary()}: {len(leaked)} found",
        f"0 of {TOKENS}",
        holds=not leaked and len(canaries.planted) == TOKENS,
        found=leaked,
    )
    figures.report(
        f"{len(missed)} kinds of places left out", "0", holds=not missed, found=[*missed]
    )
    figures.close()


def charging_operations() -> set[str]:
    """By the catalog, not by what the turns are made from."""
    return {name for name, row in OPERATIONS.items() if row.charging}


def make_turns() -> str:
    return "sbx_" + "".join(secrets.choice(ALPHABET) for _ in range(36))


@contextmanager
def scanned_commands(canaries: Canaries) -> Iterator[None]:
    # However long nobody commands anything.
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
    with client as store, store.monitor() as monitor:
        stop = threading.Event()
        thread = threading.Thread(target=scan_redis, args=(monitor, canaries, stop), daemon=True)
        thread.start()
        yield
        stop.set()
        store.ping()  # the command that it waits for
        thread.join(10)


def play_turn(
    control: httpx.Client, wire: FaultyTransport, turn: CanaryTurn, seed: int
) -> CanaryResult:
    """One token's bad days: every fault, then every answer that quotes it."""
    chance, faults, quotes = Random(f"{seed}/{turn.number}"), 0, 0  # noqa: S311
    try:
        with open_sandbox_account(control, empty=False, text=turn.token) as stage:
            for fault in FAULTS.values():
                intent = INTENT_MAKERS[turn.operation](stage)
                fault(stage, wire, path_pattern(turn.operation), chance)
                faults += work_until_settled(admit_charge(intent)).pk is not None
                stage.clear_faults()
            for intent in token_echoes.order_charge_echoes(
                stage, turn.token, turn.operation, turn.number
            ):
                work_until_settled(admit_charge(intent), LOOKED_AT)
                quotes += 1
            way = list(token_echoes.WRITINGS)[turn.number % len(token_echoes.WRITINGS)]
            quotes += token_echoes.order_read_echoes(stage, turn.token, way)
    finally:
        connection.close()  # this thread's own
    return CanaryResult(faults, quotes)


def kill_processes(control: httpx.Client, sandbox: str) -> int:
    """Real processes with their logs at DEBUG die at every point; and a message nobody takes."""
    verdict = ChargeAudit()
    with (
        running_process_factory(sandbox) as hands,
        open_sandbox_account(control, empty=False, text=make_turns()) as stage,
    ):
        charge = admit_charge(INTENT_MAKERS["text_to_video.create"](stage))
        tasks.dispatch_charge_task.delay(str(charge.pk))
        return sum(
            run_round(stage, hands, point, "text_to_video.create", verdict) for point in FAILPOINTS
        )
