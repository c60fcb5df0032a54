"""Recording: one nonce is one charge, a job has one under way, holds stay within what is free."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from proxyapi.refusals import AlreadyInProgress, NotEnoughCredits, StaleData
from tests.admission import admit_charge
from tests.factories import ChargeFactory, JobFactory, TokenFactory

Held = Callable[..., Charge]


def intent(
    job: Job, hold: int = 106, nonce: uuid.UUID | None = None, **fields: object
) -> ChargeIntent:
    fields = {"operation": "faceless.render", **fields}
    return ChargeIntent(
        job=job,
        nonce=nonce or uuid.uuid4(),
        hold=Decimal(hold),
        **fields,  # type: ignore[arg-type]
    )


def test_a_charge_reserves_its_hold(job: Job) -> None:
    charge = admit_charge(intent(job))
    assert charge.state == ChargeState.HELD
    assert job.account.held_credits() == 106
    assert job.account.available_balance() == 894


def test_pitfall_40_the_same_form_twice_is_one_charge(job: Job) -> None:
    nonce = uuid.uuid4()
    assert admit_charge(intent(job, nonce=nonce)) == admit_charge(intent(job, nonce=nonce))
    assert Charge.objects.count() == 1


def test_a_nonce_of_another_intent_is_refused(job: Job) -> None:
    nonce = uuid.uuid4()
    admit_charge(intent(job, nonce=nonce))
    with pytest.raises(AlreadyInProgress):
        admit_charge(intent(job, nonce=nonce, operation="faceless.retry"))


def test_a_second_tab_cannot_start_a_second_render(job: Job) -> None:
    admit_charge(intent(job))
    with pytest.raises(AlreadyInProgress):
        admit_charge(intent(job))


def test_the_database_itself_refuses_a_second_open_charge(make_held_charge: Held) -> None:
    charge = make_held_charge()
    twin = {"tenant_id": charge.tenant_id, "account_id": charge.account_id, "job": charge.job}
    with pytest.raises(IntegrityError), transaction.atomic():
        Charge.objects.create(
            **twin,
            token=charge.token,
            member=charge.member,
            operation=charge.operation,
            nonce=uuid.uuid4(),
            state=ChargeState.HELD,
        )


def test_pitfall_54_holds_together_never_exceed_the_balance(job: Job) -> None:
    admit_charge(intent(job, hold=600))
    other = Job.objects.get(pk=job.pk)
    other.pk, other.remote_id = uuid.uuid4(), "8"
    other.save(force_insert=True)
    with pytest.raises(NotEnoughCredits) as refusal:
        admit_charge(intent(other, hold=401))
    assert refusal.value.sentence == (
        "Not sent. It needs 401 cr; 400 are free. Nothing was charged."
    )


def test_free_operations_are_no_charges(job: Job) -> None:
    with pytest.raises(ValueError, match="charges nothing"):
        admit_charge(intent(job, operation="faceless.estimate"))


def test_a_charge_takes_only_the_transitions_of_its_table(make_held_charge: Held) -> None:
    with pytest.raises(ValueError, match="does not go"):
        Charge.objects.transition(make_held_charge(), ChargeState.MATCHED)


def test_a_transition_that_somebody_else_took_is_not_taken_twice(make_held_charge: Held) -> None:
    charge = make_held_charge()
    stale = Charge.objects.get(pk=charge.pk)
    assert Charge.objects.transition(charge, ChargeState.REFUSED)
    assert not Charge.objects.transition(stale, ChargeState.REFUSED)


def test_a_job_that_started_meanwhile_is_not_rendered_again(job: Job) -> None:
    """Two tabs: by the time the second one's turn comes, the first one's render is confirmed."""
    Job.objects.update(state=JobState.RUNNING, next_poll_at=timezone.now())
    with pytest.raises(StaleData, match="Nothing was sent"):
        admit_charge(intent(job))


def test_a_job_that_failed_again_meanwhile_is_not_retried_for_the_failure_before(job: Job) -> None:
    Job.objects.update(state=JobState.FAILED, finished_at=timezone.now() - timedelta(minutes=1))
    job.refresh_from_db()
    Job.objects.update(finished_at=timezone.now())
    with pytest.raises(StaleData, match="Nothing was sent"):
        admit_charge(intent(job, operation="faceless.retry"))


def test_settings_that_changed_meanwhile_are_not_rendered_at_the_old_price(job: Job) -> None:
    Draft.objects.update(edited_at=timezone.now())
    with pytest.raises(StaleData, match="Nothing was sent"):
        admit_charge(intent(job))
    assert admit_charge(intent(job, operation="faceless.scripts")).state == ChargeState.HELD


def test_a_nonce_with_other_words_is_refused(job: Job) -> None:
    nonce = uuid.uuid4()
    admit_charge(intent(job, nonce=nonce, operation="faceless.scripts", body={"topic": "ice"}))
    with pytest.raises(AlreadyInProgress):
        admit_charge(intent(job, nonce=nonce, operation="faceless.scripts", body={"topic": "snow"}))


def test_a_token_that_took_over_meanwhile_is_the_one_that_is_charged(job: Job) -> None:
    newer = TokenFactory(account=job.account)
    Job.objects.update(token=newer)
    assert admit_charge(intent(job)).token == newer


def test_rule_10_a_nonce_is_unique_in_a_tenant(make_held_charge: Held) -> None:
    charge = make_held_charge()
    ChargeFactory(nonce=charge.nonce)  # another tenant's
    with pytest.raises(IntegrityError, match="nonce"), transaction.atomic():
        ChargeFactory(job=JobFactory(account=charge.account), nonce=charge.nonce)


@pytest.mark.parametrize(
    "lacking",
    [
        {"state": "confirmed", "cost": None},
        {"state": "matched", "cost": None},
        {"state": "sending", "sent_at": None},
        {"state": "unknown", "sent_at": None},
        {"state": "somewhere"},
        {"hold": -1},
    ],
)
def test_rule_10_no_charge_is_without_what_its_state_needs(
    lacking: dict[str, Any], db: None
) -> None:
    whole = {"state": "confirmed", "cost": 96, "sent_at": timezone.now()}
    ChargeFactory(**whole)
    with pytest.raises(IntegrityError), transaction.atomic():
        ChargeFactory(**{**whole, **lacking})
