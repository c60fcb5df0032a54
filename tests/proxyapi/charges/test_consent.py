"""Consent: what is asked for holds nothing until somebody releases it, once."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, approve_draft_charge, withdraw_draft_charge
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from proxyapi.refusals import AlreadyInProgress, NotEnoughCredits, StaleData
from tests.admission import admit_charge, create_draft_charge
from tests.factories import JobFactory, TokenFactory


def intent(job: Job, hold: int = 106, operation: str = "faceless.render") -> ChargeIntent:
    return ChargeIntent(job, operation, uuid.uuid4(), Decimal(hold), Decimal(96))


def test_what_is_asked_for_holds_nothing(job: Job) -> None:
    charge = create_draft_charge(intent(job, hold=5000))
    assert charge.state == ChargeState.DRAFT
    assert job.account.held_credits() == 0
    assert not Charge.objects.due(timezone.now() + timedelta(hours=1)).exists()


def test_consent_reserves_the_hold_and_twice_is_once(job: Job) -> None:
    charge = create_draft_charge(intent(job))
    assert approve_draft_charge(charge).state == ChargeState.HELD
    assert approve_draft_charge(charge).state == ChargeState.HELD
    assert charge.held_at
    assert job.account.held_credits() == 106


def test_an_ask_that_waited_for_days_is_sent_when_it_is_released(job: Job) -> None:
    """The quarter of an hour after which nothing is sent any more begins with the consent."""
    charge = create_draft_charge(intent(job))
    Charge.objects.update(created_at=timezone.now() - timedelta(days=2))
    Draft.objects.update(edited_at=timezone.now() - timedelta(days=3))
    released = approve_draft_charge(charge)
    assert released.held_at
    assert timezone.now() - released.held_at < timedelta(minutes=1)


def test_pitfall_54_consent_does_not_pass_on_credits_that_others_hold(job: Job) -> None:
    charge = create_draft_charge(intent(job, hold=600))
    other = JobFactory(account=job.account, token=job.token, tenant=job.tenant, remote_id="8")
    admit_charge(intent(other, hold=500))
    with pytest.raises(NotEnoughCredits):
        approve_draft_charge(charge)
    charge.refresh_from_db()
    assert charge.state == ChargeState.DRAFT


@pytest.mark.parametrize("what", ["edited_at", "started_at", "finished_at"])
def test_a_video_that_was_edited_or_ran_since_is_not_rendered_at_the_old_price(
    what: str, job: Job
) -> None:
    charge = create_draft_charge(intent(job))
    changed = Draft if what == "edited_at" else Job
    changed.objects.update(**{what: timezone.now() + timedelta(seconds=1)})
    with pytest.raises(StaleData, match="Nothing was sent"):
        approve_draft_charge(charge)


def test_a_draft_that_was_edited_while_the_clock_was_ahead_is_approved_after_it(job: Job) -> None:
    """Asking again would end in the same way, for as long as it was ahead."""
    Draft.objects.update(edited_at=timezone.now() + timedelta(hours=1))
    charge = create_draft_charge(intent(Job.objects.get()))
    approve_draft_charge(charge)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD


def test_what_was_asked_for_is_not_asked_for_twice(job: Job) -> None:
    create_draft_charge(intent(job))
    with pytest.raises(AlreadyInProgress):
        admit_charge(intent(job))


def test_withdrawing_ends_it_with_a_sentence_and_frees_the_job(job: Job) -> None:
    charge = withdraw_draft_charge(create_draft_charge(intent(job)), "Thea said no.")
    assert (charge.state, charge.reason) == (ChargeState.REFUSED, "Thea said no.")
    assert admit_charge(intent(job)).state == ChargeState.HELD
    with pytest.raises(StaleData, match="decided"):
        approve_draft_charge(charge)


def test_what_was_released_meanwhile_is_not_withdrawn(job: Job) -> None:
    charge = approve_draft_charge(create_draft_charge(intent(job)))
    with pytest.raises(StaleData, match="being sent"):
        withdraw_draft_charge(charge, "No.")


def test_a_search_without_a_job_goes_on_the_token(job: Job) -> None:
    token = TokenFactory(account=job.account)
    body = {"keyword": "tides", "network": "youtube"}
    search = ChargeIntent(None, "ideas.discover", uuid.uuid4(), Decimal(15), body=body, token=token)
    charge = admit_charge(search)
    assert (charge.job, charge.token, charge.body) == (None, token, body)
    assert admit_charge(search) == charge
    again = ChargeIntent(None, "ideas.discover", uuid.uuid4(), Decimal(15), body=body, token=token)
    with pytest.raises(AlreadyInProgress):
        admit_charge(again)
    assert job.state == JobState.DRAFT


def test_an_intent_needs_something_to_go_on(job: Job) -> None:
    nothing = ChargeIntent(None, "ideas.discover", uuid.uuid4(), Decimal(15))
    with pytest.raises(ValueError, match="job or a token"):
        admit_charge(nothing)
