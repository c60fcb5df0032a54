"""Every charging operation on the real wire: answered it is confirmed, lost it is found."""

from __future__ import annotations

from decimal import Decimal

import pytest

from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Job, JobState, Upload
from proxyapi.operations import OPERATIONS
from tests.admission import admit_charge
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount, work_until_settled

CREATES = {"text_to_video.create", "voice_clones.create"}


def test_no_charging_operation_is_left_out() -> None:
    assert set(INTENT_MAKERS) == {name for name, row in OPERATIONS.items() if row.charging}


@pytest.mark.parametrize("operation", INTENT_MAKERS)
def test_an_answer_that_comes_confirms_at_its_cost(
    operation: str, sandbox_account: SandboxAccount
) -> None:
    intent = INTENT_MAKERS[operation](sandbox_account)
    already = sandbox_account.spent_credits()
    charge = work_until_settled(admit_charge(intent))
    assert (charge.state, charge.reason) == (ChargeState.CONFIRMED, "")
    assert charge.cost == sandbox_account.spent_credits() - already
    assert charge.applied_at is not None
    assert Upload.objects.count() == 0
    assert sandbox_account.account_money()["double_charges"] == []


@pytest.mark.parametrize("operation", INTENT_MAKERS)
def test_an_answer_that_is_lost_is_read_back_and_counted_once(
    operation: str, sandbox_account: SandboxAccount
) -> None:
    intent = INTENT_MAKERS[operation](sandbox_account)
    already = sandbox_account.spent_credits()
    sandbox_account.set_fault(path_pattern(operation), "close", "after")
    charge = work_until_settled(admit_charge(intent))
    assert charge.state == ChargeState.MATCHED
    assert charge.cost == sandbox_account.spent_credits() - already
    assert (charge.unidentified_at is not None) == (operation in CREATES)
    assert sandbox_account.account_money()["double_charges"] == []


@pytest.mark.parametrize("operation", INTENT_MAKERS)
def test_what_never_started_is_free_again(operation: str, sandbox_account: SandboxAccount) -> None:
    intent = INTENT_MAKERS[operation](sandbox_account)
    already = sandbox_account.spent_credits()
    sandbox_account.set_fault(path_pattern(operation), "close", "before")
    charge = work_until_settled(admit_charge(intent))
    assert charge.state == ChargeState.REFUSED
    assert sandbox_account.spent_credits() == already
    assert charge.account.held_credits() == Decimal(0)


def test_pitfall_15_a_lost_clip_is_unidentified_and_may_be_paid_again_knowingly(
    sandbox_account: SandboxAccount,
) -> None:
    """Its id was in the lost answer alone; nothing is sent again by itself."""
    intent = INTENT_MAKERS["text_to_video.create"](sandbox_account)
    sandbox_account.set_fault("/v2/text-to-video", "close", "after")
    charge = work_until_settled(admit_charge(intent))
    job = Job.objects.get()
    assert charge.unidentified_at
    assert charge.cost == sandbox_account.spent_credits() == intent.quote
    assert (job.state, job.remote_id) == (JobState.DRAFT, None)
    assert sandbox_account.count_posts("/text-to-video") == 1
    again = INTENT_MAKERS["text_to_video.create"](sandbox_account)
    anew = work_until_settled(admit_charge(again))
    assert anew.state == ChargeState.CONFIRMED
    assert Charge.objects.count() == 2


def test_clips_that_are_lost_together_are_settled_when_there_are_debits_for_all(
    sandbox_account: SandboxAccount,
) -> None:
    """An outage takes several answers at once: which debit is whose does not matter then. One that
    was sent in a later second than another's debit waits until the other is told.
    """
    charges = [
        admit_charge(INTENT_MAKERS["text_to_video.create"](sandbox_account)) for _ in range(3)
    ]
    for charge in charges:
        sandbox_account.set_fault("/v2/text-to-video", "close", "after")
        dispatch_charge(charge.pk)
    while waiting := [charge for charge in charges if charge.is_open]:
        for charge in reversed(waiting):
            work_until_settled(charge, reads=1)
    assert {charge.state for charge in charges} == {ChargeState.MATCHED}
    assert (
        sum(charge.cost or 0 for charge in Charge.objects.all()) == sandbox_account.spent_credits()
    )


def test_a_clip_that_was_lost_and_one_that_never_started_wait_for_a_person(
    sandbox_account: SandboxAccount,
) -> None:
    charges = [
        admit_charge(INTENT_MAKERS["text_to_video.create"](sandbox_account)) for _ in range(2)
    ]
    for charge, when in zip(charges, ("before", "after"), strict=True):
        sandbox_account.set_fault("/v2/text-to-video", "close", when)
        dispatch_charge(charge.pk)
    states = {work_until_settled(charge, reads=4).state for charge in charges}
    assert states == {ChargeState.UNKNOWN}
