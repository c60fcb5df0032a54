"""f1: a token for each charging operation, through every fault and a service that quotes it, and
one through every death: none gets out.

Their characters are such that JSON, HTML and addresses write them otherwise. What is searched, and
how they may be written there: tests/outlets.py, tests/leaks.py; the last figure counts it.
"""

from __future__ import annotations

import os
import secrets
import string
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import NamedTuple

import httpx
import redis
from django.conf import settings
from django.db import connection

from proxyapi import tasks
from proxyapi.charges import admit_charge
from proxyapi.failpoints import FAILPOINTS
from proxyapi.models import Vault
from proxyapi.upstream.catalog import CATALOG
from tests.browser.canaries import hear_redis
from tests.drills.charging import echoes
from tests.drills.charging.hands import foundry
from tests.drills.charging.pages import seen_by_a_team
from tests.drills.charging.test_kills import one_round
from tests.drills.figures import Figures
from tests.leaks import Canaries
from tests.outlets import look_around
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import carried, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire

# One for each charging operation, and one for the deaths.
TOKENS = int(os.environ.get("DRILL_CANARIES", len(OPERATIONS) + 1))
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
        *("the table proxyapi_charge", "the table proxyapi_job", "the table dashboard_alertevent"),
    }
)


class Turn(NamedTuple):
    number: int
    token: str
    operation: str


class Done(NamedTuple):
    faults: int
    echoes: int


def test_no_token_gets_out(
    control: httpx.Client, wire: Wire, sandbox: str, canaries: Canaries
) -> None:
    figures = Figures(f"{TOKENS} tokens")
    names = list(OPERATIONS)
    turns = [Turn(n, made_up(), names[n % len(names)]) for n in range(TOKENS - 1)]
    control.post("reset", json={})
    with hearing_commands(canaries):
        with ThreadPoolExecutor(LANES) as pool:
            done = list(pool.map(lambda turn: played(control, wire, turn, figures.seed), turns))
        deaths = killed(control, sandbox)
        pages = sum(seen_by_a_team(canaries, vault) for vault in Vault.objects.all())
    look_around(canaries)
    found, missed = canaries.found(), PLACES - {name for name, n in canaries.searched.items() if n}
    figures.tell(
        f"{sum(one.faults for one in done)} faults, {sum(one.echoes for one in done)} answers that "
        f"quote the token, {deaths} deaths, {pages} pages",
        f"{len(FAULTS)} faults of {len(turns)} operations, {len(FAILPOINTS)} deaths",
        holds=sum(one.faults for one in done) == len(FAULTS) * len(turns)
        and deaths == len(FAILPOINTS),
    )
    left_out = charging() - {turn.operation for turn in turns}
    figures.tell(
        f"{len(left_out)} of {len(charging())} charging operations left out",
        "0",
        holds=not left_out,
        found=sorted(left_out),
    )
    figures.tell(
        f"{canaries.told()}: {len(found)} found",
        f"0 of {TOKENS}",
        holds=not found and len(canaries.planted) == TOKENS,
        found=found,
    )
    figures.tell(f"{len(missed)} kinds of places left out", "0", holds=not missed, found=[*missed])
    figures.close()


def charging() -> set[str]:
    """By the catalog, not by what the turns are made from."""
    return {name for name, row in CATALOG.items() if row.charging}


def made_up() -> str:
    return "sbx_" + "".join(secrets.choice(ALPHABET) for _ in range(36))


@contextmanager
def hearing_commands(canaries: Canaries) -> Iterator[None]:
    # However long nobody commands anything.
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=None)
    with client as store, store.monitor() as monitor:
        stop = threading.Event()
        thread = threading.Thread(target=hear_redis, args=(monitor, canaries, stop), daemon=True)
        thread.start()
        yield
        stop.set()
        store.ping()  # the command that it waits for
        thread.join(10)


def played(control: httpx.Client, wire: Wire, turn: Turn, seed: int) -> Done:
    """One token's bad days: every fault, then every answer that quotes it."""
    chance, faults, quotes = Random(f"{seed}/{turn.number}"), 0, 0  # noqa: S311
    try:
        with opened(control, empty=False, text=turn.token) as stage:
            for fault in FAULTS.values():
                intent = OPERATIONS[turn.operation](stage)
                fault(stage, wire, path_of(turn.operation), chance)
                faults += carried(admit_charge(intent)).pk is not None
                stage.lift()
            for intent in echoes.of_charges(stage, turn.token, turn.operation, turn.number):
                carried(admit_charge(intent), LOOKED_AT)
                quotes += 1
            way = list(echoes.WRITINGS)[turn.number % len(echoes.WRITINGS)]
            quotes += echoes.of_reads(stage, turn.token, way)
    finally:
        connection.close()  # this thread's own
    return Done(faults, quotes)


def killed(control: httpx.Client, sandbox: str) -> int:
    """Real processes with their logs at DEBUG die at every point; and a message nobody takes."""
    verdict = Verdict()
    with foundry(sandbox) as hands, opened(control, empty=False, text=made_up()) as stage:
        charge = admit_charge(OPERATIONS["text_to_video.create"](stage))
        tasks.dispatch_charge_task.delay(str(charge.pk))
        return sum(
            one_round(stage, hands, point, "text_to_video.create", verdict) for point in FAILPOINTS
        )
