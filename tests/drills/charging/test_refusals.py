"""a11: every error for every charging operation."""

from __future__ import annotations

import httpx

from tests.drills.figures import Figures
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.refusals import REFUSALS, refused
from tests.proxyapi.money.stage import opened
from tests.proxyapi.money.wire import Wire


def test_every_error_ends_every_charge_with_its_cause(control: httpx.Client, wire: Wire) -> None:
    figures, wrong = Figures("refusals"), []
    for operation in OPERATIONS:
        with opened(control) as stage:
            for name in REFUSALS:
                if found := refused(stage, name, operation):
                    wrong.append(found)
    print(*(f"  {line}" for line in wrong[:20]), sep="\n")
    calls = len(OPERATIONS) * len(REFUSALS)
    told = f"{len(wrong)} of {calls} refusals not told as they are, free, and with their cause"
    figures.tell(told, "0", holds=not wrong)
    figures.close()
