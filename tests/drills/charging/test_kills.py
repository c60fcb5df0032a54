"""Eight places where a process dies with -9 × operations × 10, five of them on each database.

The typed shortcuts are sent, read back and settled like the generic calls: one round for each.

In lanes: most of a round is waiting. Each has processes of its own, and an account for each turn.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

import httpx
from django.db import connection

from proxyapi.charges import ChargeIntent
from proxyapi.failpoints import FAILPOINTS
from proxyapi.models import Charge
from tests.drills.charging.worker_control import (
    KILLED,
    WorkerControl,
    running_process_factory,
    sweep_until_settled,
)
from tests.drills.figures import Figures
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount, open_sandbox_account
from tests.settings import ON_POSTGRES

KILLS = int(os.environ.get("DRILL_CHARGE_KILLS", "5"))  # of each point and operation and database
STARTS_WITHIN = 60.0  # seconds, on a machine that is busy with other drills
LANES = int(os.environ.get("DRILL_LANES", "6"))  # the pool to PostgreSQL has eight connections
ONLY = os.environ.get("DRILL_OPERATIONS", "")
SETTLED_WITHIN = 60.0  # seconds after the restart
TWINS = ("b_roll.", "ai_visuals.scripts", "ai_visuals.render", "url_to_video.")
FIFTEEN = [name for name in INTENT_MAKERS if not name.startswith(TWINS)]
SHORTCUTS = [name for name in INTENT_MAKERS if name.startswith(TWINS)]
IN_WEB = ("intent", "enqueue")
DRAWS = 3  # of a round, until one kills
ENDS_WITHIN = 5.0  # seconds from the settling to the last failpoint
FULL = len(FAILPOINTS) * (5 * len(FIFTEEN) + len(SHORTCUTS))


@dataclass
class KillRounds:
    verdict: ChargeAudit = field(default_factory=ChargeAudit)
    wanted: int = 0
    kills: int = 0
    again: int = 0


def test_no_kill_charges_twice_or_loses_a_charge(
    control: httpx.Client, sandbox: str, faulty_transport: FaultyTransport
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, turns = Figures(f"charging processes killed, {database}"), SimpleQueue[str]()
    for operation in ONLY.split(",") * KILLS if ONLY else [*FIFTEEN * KILLS, *SHORTCUTS]:
        turns.put(operation)
    control.post("reset", json={})
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [
            pool.submit(run_kill_thread, control, sandbox, f"lane{n}", turns) for n in range(LANES)
        ]
        done = KillRounds()
        for one in lanes:
            found = one.result()
            done.verdict.merge(found.verdict)
            done.wanted, done.kills = done.wanted + found.wanted, done.kills + found.kills
            done.again += found.again
    report_rounds(figures, done)
    figures.close()


def run_kill_thread(
    control: httpx.Client, sandbox: str, queue: str, turns: SimpleQueue[str]
) -> KillRounds:
    """Operation after operation, with processes of its own, at every point."""
    done = KillRounds()
    try:
        with running_process_factory(sandbox, queue) as hands:
            for operation in remaining_turns(turns):
                with open_sandbox_account(control, empty=False) as stage:
                    for point in FAILPOINTS:
                        draws = until_killed(stage, hands, point, operation, done.verdict)
                        done.wanted, done.kills = done.wanted + 1, done.kills + (draws is not None)
                        done.again += DRAWS - 1 if draws is None else draws
                    done.verdict.check_account(stage, operation)
    finally:
        connection.close()  # this thread's own
    return done


def remaining_turns(turns: SimpleQueue[str]) -> Iterator[str]:
    with suppress(Empty):
        while True:
            yield turns.get_nowait()


def until_killed(
    stage: SandboxAccount, hands: WorkerControl, point: str, operation: str, verdict: ChargeAudit
) -> int | None:
    """Rounds until one killed its process; how many did not, None when none did.

    What a round without a kill did is judged like the others.
    """
    for draws in range(DRAWS):
        if run_round(stage, hands, point, operation, verdict):
            return draws
    return None


def run_round(
    stage: SandboxAccount, hands: WorkerControl, point: str, operation: str, verdict: ChargeAudit
) -> bool:
    """Press, have a process die at that point, start another, and check the result."""
    hands.start_new_queue()
    intent = INTENT_MAKERS[operation](stage)
    already, what = stage.spent_credits(), f"{operation} at {point}"
    if point == "reconcile":
        stage.set_fault(path_pattern(operation), "close", "after")
    pressed = hands.press_button(intent, point if point in IN_WEB else "")
    killed = pressed == KILLED if point in IN_WEB else dies_in_worker(hands, intent, point)
    if not killed:
        there = Charge.objects.filter(nonce=intent.nonce).values_list("state", "reason", "failures")
        print(f"  {what}: nobody died; pressing ended with {pressed}, charge {list(there)}")
    if point == "intent":
        if killed and Charge.objects.filter(nonce=intent.nonce).exists():
            verdict.unexplained.append(f"{what}: written without a commit")
        hands.press_button(intent)  # the person presses once more
    restart_workers(hands, intent, verdict)
    stage.clear_faults()
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        verdict.lost.append(what)
    else:
        verdict.judge_charge(charge, stage.spent_credits() - already, what)
    return killed


def dies_in_worker(hands: WorkerControl, intent: ChargeIntent, point: str) -> bool:
    """Whether a worker died at that point. The beat goes on meanwhile, as it does for everybody:
    it finds the lost answer, and the charge whose first try was put off."""
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        return False
    with hands.start_worker(point) as pid:
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until and charge.state not in FINAL_STATES:
            sweep_until_settled(charge, 0.1, hands.queue)
            if (end := hands.wait_for_exit(pid, 0.1)) is not None:
                return end == KILLED
        return hands.wait_for_exit(pid, ENDS_WITHIN) == KILLED


def restart_workers(hands: WorkerControl, intent: ChargeIntent, verdict: ChargeAudit) -> None:
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        return
    with hands.start_worker():
        verdict.slowest = max(
            verdict.slowest, sweep_until_settled(charge, SETTLED_WITHIN, hands.queue)
        )


def report_rounds(figures: Figures, done: KillRounds) -> None:
    verdict = done.verdict
    figures.report(
        f"{done.kills} of {done.wanted} processes died where they were to "
        f"({done.again} rounds that killed nobody were drawn again)",
        f"all of them, {FULL} on each database",
        holds=done.kills == done.wanted >= FULL,
    )
    for name, found in verdict.kinds.items():
        figures.report(
            f"{len(found)} {name} of {done.kills} kills", "0", holds=not found, found=found
        )
    slowest = f"settled {verdict.slowest:.1f} s after the restart at the latest"
    figures.report(
        f"{slowest}, with shortened waits", "60 s", holds=verdict.slowest <= SETTLED_WITHIN
    )
