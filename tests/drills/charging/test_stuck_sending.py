"""Every charging operation × 3 places to die in `sending` × 5 weathers, a quarter of an hour.

Every other one of them on SQLite, the rest on PostgreSQL. `DRILL_OPERATIONS` names some of the
operations. The clock is simulated.
"""

from __future__ import annotations

import os
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.drills.figures import Figures
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.stuck_sending import (
    CONDITIONS,
    FAILPOINTS,
    SettlementAges,
    age_stuck_charge,
)
from tests.settings import ON_POSTGRES

ONLY = os.environ.get("DRILL_OPERATIONS", "")
FOUND_WITHIN = 30  # seconds; a sender is silent for 15 of them before it counts as dead
SETTLED_WITHIN = 60  # seconds; the drills of faults and kills shorten the waits, this one does not


@pytest.mark.django_db(transaction=True)
def test_no_charge_grows_old_in_sending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    figures, ages = Figures("charges left in sending (simulated time)"), SettlementAges()
    operations = ONLY.split(",") if ONLY else list(INTENT_MAKERS)
    ends = list(product(operations, FAILPOINTS, CONDITIONS))[int(ON_POSTGRES) :: 2]
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        for operation, death, weather in ends:
            age_stuck_charge(sandbox, operation, death, weather, ages)
    print(*(f"  {problem}" for problem in ages.wrong[:20]), sep="\n")
    count = len(ends)
    figures.report(
        f"{len(ages.wrong)} of {count} left alone or settled wrongly after 15 min "
        f"({ages.settled} settled, {ages.to_a_person} shown to people)",
        "0",
        holds=not ages.wrong and ages.settled + ages.to_a_person == count,
    )
    figures.report(
        f"{ages.longest:.0f} s at most in sending after a worker died",
        f"{FOUND_WITHIN} s",
        holds=0 < ages.longest <= FOUND_WITHIN,
    )
    figures.report(
        f"with the timeouts of production, without faults: settled {ages.charged:.0f} s after the "
        f"worker died at the latest; what took nothing {ages.free:.0f} s after its time was up",
        f"{SETTLED_WITHIN} s each",
        holds=0 < ages.charged <= SETTLED_WITHIN and 0 < ages.free <= SETTLED_WITHIN,
    )
    figures.report(
        f"settled {ages.after:.0f} s after an outage of 20 min at the latest",
        f"{SETTLED_WITHIN} s",
        holds=0 < ages.after <= SETTLED_WITHIN,
    )
    figures.close()
