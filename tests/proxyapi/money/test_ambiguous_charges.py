"""One debit and two lost charges that it fits: the engine does not guess, and a person can tell."""

from __future__ import annotations

import pytest

from proxyapi import ledger
from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState
from proxyapi.rate_limiter import Priority
from tests.admission import admit_charge
from tests.proxyapi.money.ambiguous_charges import decide_ambiguous
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount, work_until_settled

READS = 4  # of a charge; one that can be settled needs one
CLIP, SCENES = "text_to_video.create", "text_to_scene.clips"  # of one price


def lost(stage: SandboxAccount, operation: str, when: str) -> Charge:
    """Its answer never came: `after` the service had charged it, or `before` it heard of it."""
    charge = admit_charge(INTENT_MAKERS[operation](stage))
    stage.set_fault(path_pattern(operation), "close", when)
    dispatch_charge(charge.pk)
    return charge


@pytest.mark.parametrize("started", [CLIP, SCENES])
def test_a_debit_that_fits_two_lost_charges_is_assigned_by_a_person(
    sandbox_account: SandboxAccount, started: str
) -> None:
    charges = [
        lost(sandbox_account, operation, "after" if operation == started else "before")
        for operation in (CLIP, SCENES)
    ]
    for charge in (*charges, *charges):
        work_until_settled(charge, reads=READS)
    is_shown = started == SCENES  # its scenes have their clips by now
    left = {charge.operation for charge in Charge.objects.filter(state=ChargeState.UNKNOWN)}
    assert left == (set() if is_shown else {CLIP, SCENES})
    ended, stuck = decide_ambiguous(sandbox_account)
    assert (len(ended), stuck) == (len(left), [])
    by_state = {charge.state: charge.operation for charge in Charge.objects.all()}
    assert by_state[ChargeState.MATCHED] == started
    verdict = ChargeAudit()
    verdict.check_account(sandbox_account, "in the end")
    assert verdict.problems == []


def test_nothing_else_that_stays_open_is_taken_for_a_doubt(sandbox_account: SandboxAccount) -> None:
    """So the drill that lets people decide can fail."""
    charge = lost(sandbox_account, CLIP, "after")
    for _ in range(2):  # before and after its debit is mirrored
        ended, stuck = decide_ambiguous(sandbox_account)
        assert (ended, len(stuck)) == ([], 1)
        ledger.mirror_entries(charge.account, Priority.PERSON, 5)
    lost(sandbox_account, CLIP, "after")
    ledger.mirror_entries(charge.account, Priority.PERSON, 5)  # a debit for each
    ended, stuck = decide_ambiguous(sandbox_account)
    assert (ended, len(stuck)) == ([], 2)
