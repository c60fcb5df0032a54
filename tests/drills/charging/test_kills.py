"""a2: eight places where a process dies with -9 × operations × 10, on the database of the run.

Run it twice, on SQLite and with TEST_DATABASE=postgresql.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import pytest

from proxyapi.charges import Intent
from proxyapi.failpoints import POINTS
from proxyapi.models import Charge
from tests.drills.charging.hands import KILLED, Hands, foundry, swept
from tests.drills.figures import Figures
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire
from tests.settings import ON_POSTGRES

KILLS = int(os.environ.get("DRILL_CHARGE_KILLS", "5"))  # of each point and operation and database
ONLY = os.environ.get("DRILL_OPERATIONS", "")
SETTLED_WITHIN = 60.0  # seconds after the restart
ELSEWHERE = ("b_roll.", "ai_visuals.scripts", "ai_visuals.render", "url_to_video.")
TWELVE = [name for name in OPERATIONS if not name.startswith(ELSEWHERE)]
IN_WEB = ("intent", "enqueue")


@pytest.fixture
def hands(sandbox: str, wire: Wire) -> Iterator[Hands]:
    with foundry(sandbox) as hands:
        yield hands


def test_no_kill_charges_twice_or_loses_a_charge(control: httpx.Client, hands: Hands) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, verdict = Figures(f"charging processes killed, {database}"), Verdict()
    kills = 0
    for operation in ONLY.split(",") if ONLY else TWELVE:
        with opened(control) as stage:
            for point in POINTS:
                for _ in range(KILLS):
                    kills += one_round(stage, hands, point, operation, verdict)
            verdict.weigh(stage, operation)
    tell(figures, verdict, kills)
    figures.close()


def one_round(stage: Stage, hands: Hands, point: str, operation: str, verdict: Verdict) -> bool:
    """Press, have a process die at that point, start another, and look what became of it."""
    intent = OPERATIONS[operation](stage)
    already, what = stage.spent(), f"{operation} at {point}"
    if point == "reconcile":
        stage.fault(path_of(operation), "close", "after")
    pressed = hands.press(intent, point if point in IN_WEB else "")
    killed = pressed == KILLED or dies_in_worker(hands, intent, point)
    if not killed:
        verdict.open.append(f"{what}: nobody died ({pressed})")
    if point == "intent":
        if Charge.objects.filter(nonce=intent.nonce).exists():
            verdict.unexplained.append(f"{what}: written without a commit")
        hands.press(intent)  # the person presses once more
    restarted(stage, hands, intent, verdict, what)
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        verdict.lost.append(what)
    else:
        verdict.judge(charge, stage.spent() - already, what)
    return killed


def dies_in_worker(hands: Hands, intent: Intent, point: str) -> bool:
    with hands.worker(point) as pid:
        if point == "reconcile":  # the lost answer is found by the beat
            charge = Charge.objects.get(nonce=intent.nonce)
            for _ in range(100):
                swept(charge, 0.1)
                if hands.ends(pid, 0.1) is not None:
                    break
        return hands.ends(pid, 20) == KILLED


def restarted(stage: Stage, hands: Hands, intent: Intent, verdict: Verdict, what: str) -> None:
    charge = Charge.objects.filter(nonce=intent.nonce).first()
    if charge is None:
        return
    with hands.worker():
        verdict.slowest = max(verdict.slowest, swept(charge, SETTLED_WITHIN))


def tell(figures: Figures, verdict: Verdict, kills: int) -> None:
    print(*(f"  {problem}" for problem in verdict.problems[:20]), sep="\n")
    count = {
        "double charges": verdict.double,
        "lost intents": verdict.lost,
        'false "failed"': verdict.false_failed,
        "unexplained": verdict.unexplained,
        "not settled": verdict.open,
    }
    for name, found in count.items():
        figures.tell(f"{len(found)} {name} of {kills} kills", "0", holds=not found)
    slowest = f"settled {verdict.slowest:.1f} s after the restart at the latest"
    figures.tell(slowest, "60 s", holds=verdict.slowest <= SETTLED_WITHIN)
