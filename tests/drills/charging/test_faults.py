"""a1 and a5: fourteen faults × every charging operation, on the real wire.

The full volume is 25 seeds, half of them on SQLite and half on PostgreSQL: `DRILL_SEEDS=13`.
"""

from __future__ import annotations

import os
import time
from random import Random

import httpx

from proxyapi.charges import record
from proxyapi.models import Charge
from tests.drills.figures import Figures
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, carried, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire

SEEDS = int(os.environ.get("DRILL_SEEDS", "4"))
# The typed shortcuts are twins of the generic calls: a fifth of the seeds.
TWINS = ("b_roll.", "ai_visuals.scripts", "ai_visuals.render", "url_to_video.")
ONLY = os.environ.get("DRILL_OPERATIONS", "")  # names, separated by commas; for a closer look
FULL = 13
SETTLED_WITHIN = 60.0  # seconds after the fault's end


def test_no_fault_charges_twice_or_loses_a_charge(control: httpx.Client, wire: Wire) -> None:
    figures, verdict = Figures("charging under faults"), Verdict()
    for operation in ONLY.split(",") if ONLY else OPERATIONS:
        seeds = -(-SEEDS // 5) if operation.startswith(TWINS) else SEEDS
        with opened(control) as stage:
            for fault in FAULTS:
                for number in range(seeds):
                    once(stage, wire, fault, operation, Random(f"{figures.seed}/{number}"), verdict)  # noqa: S311
            verdict.weigh(stage, operation)
    tell(figures, verdict)
    figures.close()


def once(
    stage: Stage, wire: Wire, fault: str, operation: str, chance: Random, verdict: Verdict
) -> None:
    intent = OPERATIONS[operation](stage)
    already, began = stage.spent(), time.monotonic()
    FAULTS[fault](stage, wire, path_of(operation), chance)
    charge = carried(record(intent), SETTLED_WITHIN)
    verdict.slowest = max(verdict.slowest, time.monotonic() - began)
    if not Charge.objects.filter(nonce=intent.nonce).exists():
        verdict.lost.append(f"{operation} {fault}")
    verdict.judge(charge, stage.spent() - already, f"{operation} {fault}")


def tell(figures: Figures, verdict: Verdict) -> None:
    print(*(f"  {problem}" for problem in verdict.problems[:20]), sep="\n")
    of = f"of {verdict.charges} charges under {len(FAULTS)} faults"
    count = {
        "double charges": verdict.double,
        "lost intents": verdict.lost,
        'false "failed"': verdict.false_failed,
        "unexplained": verdict.unexplained,
        "not settled": verdict.open,
    }
    for name, found in count.items():
        figures.tell(f"{len(found)} {name} {of}", "0", holds=not found)
    slowest = f"settled {verdict.slowest:.1f} s after the fault at the latest"
    figures.tell(slowest, "60 s", holds=verdict.slowest <= SETTLED_WITHIN)
    print(f"  {SEEDS} seeds; the full volume is {FULL} on each of the two databases")
