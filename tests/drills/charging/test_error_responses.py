"""Every error for every charging operation."""

from __future__ import annotations

import httpx

from tests.drills.figures import Figures
from tests.proxyapi.money.error_responses import ERROR_RESPONSES, check_error_response
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import open_sandbox_account


def test_every_error_ends_every_charge_with_its_cause(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> None:
    figures, wrong = Figures("refusals"), []
    control.post("reset", json={})
    for operation in INTENT_MAKERS:
        # A world that begins anew would give an id that another account's storyboard has here.
        with open_sandbox_account(control, empty=False) as stage:
            for name in ERROR_RESPONSES:
                if found := check_error_response(stage, name, operation):
                    wrong.append(found)
    print(*(f"  {line}" for line in wrong[:20]), sep="\n")
    calls = len(INTENT_MAKERS) * len(ERROR_RESPONSES)
    told = f"{len(wrong)} of {calls} refusals not told as they are, free, and with their cause"
    figures.report(told, "0", holds=not wrong)
    figures.close()
