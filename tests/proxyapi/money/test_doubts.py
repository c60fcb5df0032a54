"""One debit and two lost charges that it fits: the engine does not guess, and a person can tell."""

from __future__ import annotations

import pytest

from proxyapi import ledger
from proxyapi.charges import admit_charge, dispatch_charge
from proxyapi.models import Charge, ChargeState
from proxyapi.rate_limiter import Priority
from tests.proxyapi.money.doubts import decide
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, carried
from tests.proxyapi.money.verdict import Verdict

CLIP, SCENES = "text_to_video.create", "text_to_scene.clips"  # of one price


def lost(stage: Stage, operation: str, when: str) -> Charge:
    """Its answer never came: `after` the service had charged it, or `before` it heard of it."""
    charge = admit_charge(OPERATIONS[operation](stage))
    stage.fault(path_of(operation), "close", when)
    dispatch_charge(charge.pk)
    return charge


@pytest.mark.parametrize("started", [CLIP, SCENES])
def test_a_debit_that_fits_two_lost_charges_is_told_by_a_person(stage: Stage, started: str) -> None:
    charges = [
        lost(stage, operation, "after" if operation == started else "before")
        for operation in (CLIP, SCENES)
    ]
    for charge in (*charges, *charges):
        carried(charge, 3)
    is_shown = started == SCENES  # its scenes have their clips by now
    left = {charge.operation for charge in Charge.objects.filter(state=ChargeState.UNKNOWN)}
    assert left == (set() if is_shown else {CLIP, SCENES})
    ended, stuck = decide(stage)
    assert (len(ended), stuck) == (len(left), [])
    by_state = {charge.state: charge.operation for charge in Charge.objects.all()}
    assert by_state[ChargeState.MATCHED] == started
    verdict = Verdict()
    verdict.weigh(stage, "in the end")
    assert verdict.problems == []


def test_nothing_else_that_stays_open_is_taken_for_a_doubt(stage: Stage) -> None:
    """So the drill that lets people decide can fail."""
    charge = lost(stage, CLIP, "after")
    for _ in range(2):  # before and after its debit is mirrored
        ended, stuck = decide(stage)
        assert (ended, len(stuck)) == ([], 1)
        ledger.mirror_entries(charge.account, Priority.PERSON, 5)
    lost(stage, CLIP, "after")
    ledger.mirror_entries(charge.account, Priority.PERSON, 5)  # a debit for each
    ended, stuck = decide(stage)
    assert (ended, len(stuck)) == ([], 2)
