"""Made-up calls get no 5xx, no status that is not described, no body of another shape.

A few of each operation here; `make drill` makes 12,000.
"""

from __future__ import annotations

import asyncio

import pytest

from tests.sandbox.conftest import SandboxClient
from tests.sandbox.fuzzing import FuzzPlayground

SEED = 20260115
EACH = 2


@pytest.mark.slow
def test_no_made_up_call_gets_an_answer_that_is_not_described(tmp_path):
    """Hundreds of calls."""
    with asyncio.Runner() as loop:
        playground = FuzzPlayground(SandboxClient(tmp_path, loop, db=None))
        for operation in playground.operations():
            playground.fuzz(operation, EACH, SEED)
    told = ", ".join(f"{status}: {count}" for status, count in sorted(playground.statuses.items()))
    print(f"seed {SEED}, {playground.cases} calls ({told})")
    assert playground.cases >= 100
    assert playground.statuses[200] >= 10
