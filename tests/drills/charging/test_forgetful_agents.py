"""An agent that remembers nothing, the web process and the worker are killed at any point while it
orders a film: it is paid once. It goes on ordering until its allowance is used up, and never above.

In lanes: most of a run is waiting. Each has processes, an account, a team and a port of its own.
"""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import httpx
from django.db import connection
from django.utils import timezone

from dashboard.models import Role
from proxyapi.failpoints import FAILPOINTS
from proxyapi.gateway import keys
from proxyapi.models import Charge, ChargeState, KeyScope
from tests.drills.charging.worker_control import (
    WorkerControl,
    enqueue_if_due,
    running_process_factory,
)
from tests.drills.figures import Figures
from tests.factories import MembershipFactory, TeamFactory
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount, open_sandbox_account
from tests.servers import find_unused_port
from tests.settings import ON_POSTGRES

RUNS = int(os.environ.get("DRILL_AGENT_RUNS", "50" if ON_POSTGRES else "250"))
LANES = int(os.environ.get("DRILL_LANES", "6"))  # the pool to PostgreSQL has eight connections
ALLOWANCE, ORDERS_OF_KEY = Decimal(50), 5  # of 10 to 16 credits each
MAX_PRICE = 16
SETTINGS = {"voice_id": 2114, "genre_id": 41}
KILLED_WITHIN_S, SETTLED_WITHIN_S = 1.0, 90.0
LEASE = timedelta(seconds=1)  # instead of 25 s, until the beat rings again for what a worker lost
WRONG = ("paid twice", "above the allowance", "without an end", "without a film")
VICTIMS = ("agent", "serve", "work")
FAULTS = [(when, action) for when in ("before", "after") for action in ("close", "status", "html")]


@dataclass
class AgentRuns:
    """What went wrong, by kind, and how long runs took in seconds."""

    seconds: list[float] = field(default_factory=list)
    kills: int = 0
    lost_answers: int = 0
    films: int = 0
    paused: int = 0
    wrong: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in WRONG})


class KilledPortal:
    """Web process, worker and agent of a lane, each of which may be killed and started again."""

    def __init__(self, hands: WorkerControl, stage: SandboxAccount) -> None:
        self.hands, self.stage, self.port = hands, stage, find_unused_port()
        team = TeamFactory(tenant=stage.token.tenant)
        MembershipFactory(team=team, user=stage.token.owner, role=Role.OWNER)
        self.running: dict[str, int] = {}
        self.make_key()

    def make_key(self) -> None:
        """A key for the next orders, and how many charges there were before."""
        owner, scopes = self.stage.token, tuple(KeyScope)
        limits = {"token": owner, "allowance": ALLOWANCE}
        self.made = keys.create_key(owner.tenant, owner.owner_id, "agent", scopes, **limits)
        self.since = len(charges_there(self.stage))

    def start(self, kind: str, point: str = "", **agent: Any) -> None:
        wanted = {} if kind == "work" else {"port": self.port}
        self.running[kind] = self.hands.start_process(kind, point, **wanted, **agent)

    def sweep(self, seconds: float) -> None:
        """What the beat does meanwhile, for the charges of the key."""
        charges = Charge.objects.filter(api_key=self.made.key).exclude(state__in=FINAL_STATES)
        now = timezone.now()
        charges.filter(state=ChargeState.HELD, due_at__gt=now + LEASE).update(due_at=now + LEASE)
        for charge in charges:
            enqueue_if_due(charge, self.hands.queue)
        self.hands.wait_for_exit(self.running["agent"], seconds)

    def has_ended(self, kind: str) -> bool:
        return self.hands.wait_for_exit(self.running[kind], 0.01) is not None

    def kill_all(self) -> None:
        while self.running:
            self.hands.kill(self.running.popitem()[1])


def test_no_kill_makes_an_agent_pay_twice(
    control: httpx.Client, sandbox: str, faulty_transport: FaultyTransport
) -> None:
    figures, done = Figures("agents, web processes and workers killed"), AgentRuns()
    control.post("reset", json={})
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [
            pool.submit(run_lane, control, sandbox, lane, figures.seed, done)
            for lane in range(LANES)
        ]
        for lane in lanes:
            lane.result()
    took = f"{statistics.median(done.seconds):.1f} s each, {max(done.seconds):.1f} s at most"
    figures.report(
        f"{done.films} films with one charge, {done.paused} orders ended by the allowance "
        f"({done.kills} kills, {done.lost_answers} lost answers, {took})",
        f"{RUNS} together",
        holds=done.films + done.paused == len(done.seconds) == RUNS,
    )
    for name, found in done.wrong.items():
        figures.report(f"{len(found)} {name}", "0", holds=not found, found=found)
    figures.close()


def run_lane(control: httpx.Client, sandbox: str, lane: int, seed: int, done: AgentRuns) -> None:
    try:
        with (
            running_process_factory(sandbox, f"agents{lane}") as hands,
            open_sandbox_account(control, empty=False) as stage,
        ):
            portal = KilledPortal(hands, stage)
            for number in range(lane, RUNS, LANES):
                if number // LANES % ORDERS_OF_KEY == 0:
                    portal.make_key()
                try:
                    run_once(portal, number, Random(f"{seed}/{number}"), done)  # noqa: S311
                finally:
                    portal.kill_all()
                    stage.clear_faults()
    finally:
        connection.close()  # this thread's own


def run_once(portal: KilledPortal, number: int, chance: Random, done: AgentRuns) -> None:
    """One order, with kills, until it is settled; then the verdict."""
    began, order = time.monotonic(), draw_order(number, chance)
    agent: dict[str, Any] = {"key": portal.made.value, "order": order}
    portal.hands.start_new_queue()
    before = len(charges_there(portal.stage))
    if chance.random() < 0.4:
        when, action = chance.choice(FAULTS)
        portal.stage.set_fault(chance.choice(["*/render", "*/scripts"]), action, when)
        done.lost_answers += 1
    portal.start("serve", chance.choice(["", "", *FAILPOINTS[:2]]))
    portal.start("work", chance.choice(["", "", *FAILPOINTS[2:]]))
    portal.start("agent", **agent)
    for _ in range(chance.randrange(1, 4)):
        portal.sweep(chance.uniform(0, KILLED_WITHIN_S))
        victim = chance.choice(VICTIMS)
        portal.hands.kill(portal.running[victim])
        if victim == "agent":
            portal.start("agent", **agent)
        else:
            portal.start(victim)
        done.kills += 1
    while not is_settled(portal) and time.monotonic() - began < SETTLED_WITHIN_S:
        portal.sweep(0.1)
        for kind in ("serve", "work"):  # what died at its failpoint is started again
            if portal.has_ended(kind):
                portal.start(kind)
                done.kills += 1
    judge(portal, charges_there(portal.stage), before, f"run {number}", done)
    done.seconds.append(time.monotonic() - began)


def draw_order(number: int, chance: Random) -> dict[str, Any]:
    words = f"The sea is salty, and for long was not, number {number}."
    sources: list[dict[str, Any]] = [{"script": words}, {"topic": words, "script_seconds": 30}]
    source = chance.choice(sources)
    return {"kind": "video", "settings": SETTINGS, **source}


def is_settled(portal: KilledPortal) -> bool:
    charges = Charge.objects.filter(api_key=portal.made.key)
    open_charges = charges.exclude(state__in=FINAL_STATES)
    return portal.has_ended("agent") and not open_charges.exists()


def charges_there(stage: SandboxAccount) -> list[dict[str, Any]]:
    """The charges of the account in the sandbox, in their order."""
    by_resource = stage.account_money()["charges"].values()
    return sorted((it for found in by_resource for it in found), key=lambda it: it["number"])


def judge(
    portal: KilledPortal, charges: list[dict[str, Any]], before: int, what: str, done: AgentRuns
) -> None:
    """`charges` are all of the account, those from `before` on of this order."""
    rows, there = Charge.objects.filter(api_key=portal.made.key), charges[before:]
    told = f"{what}: there {there}, here {[(it.operation, it.state, it.reason) for it in rows]}"
    features = [charge["feature"] for charge in there]
    if len(features) != len(set(features)):
        done.wrong["paid twice"].append(told)
    spent = sum(charge["credits"] for charge in charges[portal.since :])
    held = sum(it.cost or it.hold for it in rows.exclude(state=ChargeState.REFUSED))
    if max(spent, held) > ALLOWANCE:
        done.wrong["above the allowance"].append(f"{spent} spent, {held} held, {told}")
    if not portal.has_ended("agent"):
        done.wrong["without an end"].append(told)
    elif "faceless_render" in features:
        done.films += 1
    elif spent + MAX_PRICE > ALLOWANCE:
        done.paused += 1
    else:
        done.wrong["without a film"].append(told)
