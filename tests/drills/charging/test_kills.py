"""a2: eight places where a process dies with -9 × operations, on the database of the run.

The full volume is ten of each, five on SQLite and five on PostgreSQL: `DRILL_CHARGE_KILLS=5`.
"""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import NamedTuple

import httpx
from django.db import connection

from proxyapi.charges import Intent
from proxyapi.failpoints import POINTS
from proxyapi.models import Charge
from tests.drills.charging.hands import KILLED, Hands, foundry, swept
from tests.drills.figures import Figures
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import ENDED, Stage, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire
from tests.settings import ON_POSTGRES

KILLS = int(os.environ.get("DRILL_CHARGE_KILLS", "2"))  # of each point and operation and database
STARTS_WITHIN = 60.0  # seconds, on a machine that is busy with other drills
LANES = 4  # most of a round is waiting
ONLY = os.environ.get("DRILL_OPERATIONS", "")
SETTLED_WITHIN = 60.0  # seconds after the restart
ELSEWHERE = ("b_roll.", "ai_visuals.scripts", "ai_visuals.render", "url_to_video.")
TWELVE = [name for name in OPERATIONS if not name.startswith(ELSEWHERE)]
IN_WEB = ("intent", "enqueue")
DRAWS = 3  # of a round, until one kills
ENDS_WITHIN = 5.0  # seconds from the settling to the last failpoint
FULL = 5 * len(POINTS) * len(TWELVE)


class Rounds(NamedTuple):
    wanted: int
    kills: int
    again: int


def test_no_kill_charges_twice_or_loses_a_charge(
    control: httpx.Client, sandbox: str, wire: Wire
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, verdict = Figures(f"charging processes killed, {database}"), Verdict()
    operations: SimpleQueue[str] = SimpleQueue()
    for operation in ONLY.split(",") if ONLY else TWELVE:
        operations.put(operation)
    control.post("reset", json={})
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [
            pool.submit(lane, control, sandbox, f"lane{n}", operations, verdict)
            for n in range(LANES)
        ]
        done = [one.result() for one in lanes]
    tell(figures, verdict, Rounds(*map(sum, zip(*done, strict=True))))
    figures.close()


def lane(
    control: httpx.Client,
    sandbox: str,
    queue: str,
    operations: SimpleQueue[str],
    verdict: Verdict,
) -> Rounds:
    """Operation after operation, with processes and an account of its own."""
    wanted = kills = again = 0
    try:
        with foundry(sandbox, queue) as hands:
            while not operations.empty():
                operation = operations.get_nowait()
                with opened(control, empty=False) as stage:
                    for point in POINTS * KILLS:
                        draws = until_killed(stage, hands, point, operation, verdict)
                        wanted, kills = wanted + 1, kills + (draws is not None)
                        again += DRAWS - 1 if draws is None else draws
                    verdict.weigh(stage, operation)
    finally:
        connection.close()
    return Rounds(wanted, kills, again)


def until_killed(
    stage: Stage, hands: Hands, point: str, operation: str, verdict: Verdict
) -> int | None:
    """Rounds until one killed its process; how many did not, None when none did.

    What a round without a kill did is judged like the others.
    """
    for draws in range(DRAWS):
        if one_round(stage, hands, point, operation, verdict):
            return draws
    return None


def one_round(stage: Stage, hands: Hands, point: str, operation: str, verdict: Verdict) -> bool:
    """Press, have a process die at that point, start another, and look what became of it."""
    hands.turn()
    intent = OPERATIONS[operation](stage)
    already, what = stage.spent(), f"{operation} at {point}"
    if point == "reconcile":
        stage.fault(path_of(operation), "close", "after")
    pressed = hands.press(intent, point if point in IN_WEB else "")
    killed = pressed == KILLED if point in IN_WEB else dies_in_worker(hands, intent, point)
    if not killed:
        there = Charge.objects.filter(nonce=intent.nonce).values_list("state", "reason", "crashes")
        print(f"  {what}: nobody died; pressing ended with {pressed}, charge {list(there)}")
    if point == "intent":
        if killed and Charge.objects.filter(nonce=intent.nonce).exists():
            verdict.unexplained.append(f"{what}: written without a commit")
        hands.press(intent)  # the person presses once more
    restarted(hands, intent, verdict)
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        verdict.lost.append(what)
    else:
        verdict.judge(charge, stage.spent() - already, what)
    return killed


def dies_in_worker(hands: Hands, intent: Intent, point: str) -> bool:
    """Whether a worker died at that point. The beat goes on meanwhile, as it does for everybody:
    it finds the lost answer, and the charge whose first try was put off."""
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        return False
    with hands.worker(point) as pid:
        until = time.monotonic() + STARTS_WITHIN
        while time.monotonic() < until and charge.state not in ENDED:
            swept(charge, 0.1, hands.queue)
            if (end := hands.ends(pid, 0.1)) is not None:
                return end == KILLED
        return hands.ends(pid, ENDS_WITHIN) == KILLED


def restarted(hands: Hands, intent: Intent, verdict: Verdict) -> None:
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        return
    with hands.worker():
        verdict.slowest = max(verdict.slowest, swept(charge, SETTLED_WITHIN, hands.queue))


def tell(figures: Figures, verdict: Verdict, rounds: Rounds) -> None:
    print(*(f"  {problem}" for problem in verdict.problems[:20]), sep="\n")
    count = {
        "double charges": verdict.double,
        "lost intents": verdict.lost,
        'false "failed"': verdict.false_failed,
        "unexplained": verdict.unexplained,
        "not settled": verdict.open,
    }
    figures.tell(
        f"{rounds.kills} of {rounds.wanted} processes died where they were to "
        f"({rounds.again} rounds that killed nobody were drawn again)",
        f"all of them (the full volume is {FULL})",
        holds=rounds.kills == rounds.wanted,
    )
    for name, found in count.items():
        figures.tell(f"{len(found)} {name} of {rounds.kills} kills", "0", holds=not found)
    slowest = f"settled {verdict.slowest:.1f} s after the restart at the latest"
    figures.tell(slowest, "60 s", holds=verdict.slowest <= SETTLED_WITHIN)
