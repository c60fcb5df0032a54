"""12,000 made-up calls: no 5xx, no status that is not described, no body of another shape."""

from __future__ import annotations

import asyncio
import os

from schemathesis.core.failures import FailureGroup

from tests.drills.figures import Figures
from tests.sandbox.conftest import SandboxClient
from tests.sandbox.fuzzing import FuzzPlayground

CASES = int(os.environ.get("DRILL_CASES", "12000"))
ROUND = 100  # calls of one operation at a time


def test_twelve_thousand_made_up_calls(tmp_path):
    figures = Figures("made-up calls")
    found: list[str] = []
    with asyncio.Runner() as loop:
        playground = FuzzPlayground(SandboxClient(tmp_path, loop, db=None))
        number = figures.seed
        while playground.cases < CASES and not found:
            for operation in playground.operations():
                try:
                    playground.fuzz(operation, ROUND, number)
                except FailureGroup as failures:
                    found.append(f"{operation.method.upper()} {operation.path}: {failures}")
            number += 1
    print("\n".join(found))
    told = ", ".join(f"{status} {count}" for status, count in sorted(playground.statuses.items()))
    figures.report(
        f"{playground.cases} calls ({told})", f"{CASES}", holds=playground.cases >= CASES
    )
    figures.report(f"{len(found)} answers not as described", "0", holds=not found)
    figures.close()
