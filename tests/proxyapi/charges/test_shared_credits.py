"""Two teams with tokens of one account at the service: its credits can be spent once."""

from __future__ import annotations

import uuid
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from proxyapi.charges import ChargeIntent, transitions
from proxyapi.models import Account, Charge, ChargeState, Job, TokenState
from proxyapi.refusals import NotEnoughCredits
from tests.admission import admit_charge
from tests.factories import ChargeFactory, JobFactory

pytestmark = pytest.mark.postgresql


def intent(job: Job, hold: int) -> ChargeIntent:
    nonce = uuid.uuid4()
    return ChargeIntent(job, "faceless.render", nonce, Decimal(hold), Decimal(96))


def test_what_one_team_holds_is_not_free_for_another(job: Job, other_teams_job: Job) -> None:
    admit_charge(intent(job, 600))
    assert other_teams_job.account.available_balance() == 400
    with pytest.raises(NotEnoughCredits) as refusal:
        admit_charge(intent(other_teams_job, 600))
    assert "600 cr are held by another team that uses this account." in refusal.value.sentence
    assert Charge.objects.count() == 1


def test_a_refusal_of_a_team_alone_names_no_other_team(job: Job) -> None:
    admit_charge(intent(job, 600))
    own = JobFactory(account=job.account, token=job.token, tenant=job.tenant)
    with pytest.raises(NotEnoughCredits) as refusal:
        admit_charge(intent(own, 600))
    assert "another team" not in refusal.value.sentence


@pytest.mark.parametrize("different", ["environment", "upstream_id"])
def test_another_account_or_another_service_is_not_the_same_account(
    different: str, job: Job, other_teams_job: Job
) -> None:
    value = {"environment": "https://other.example/v2", "upstream_id": 4242}[different]
    Account.objects.filter(pk=other_teams_job.account_id).update(**{different: value})
    admit_charge(intent(job, 600))
    assert other_teams_job.account.available_balance() == 1000


def test_what_one_team_spent_is_not_free_for_another(job: Job, other_teams_job: Job) -> None:
    now = timezone.now()
    charge = ChargeFactory(job=job, state=ChargeState.SENDING, sent_at=now)
    transitions.mark_charged(charge, ChargeState.CONFIRMED, Decimal(92))
    other_teams_job.account.refresh_from_db()
    assert other_teams_job.account.available_balance() == 908


def test_a_balance_that_one_team_reads_is_the_balance_of_both(
    job: Job, other_teams_job: Job
) -> None:
    job.account.update_balance(Decimal(700), timezone.now())
    other_teams_job.account.refresh_from_db()
    assert other_teams_job.account.available_balance() == 700


def test_a_balance_from_before_the_other_teams_charge_does_not_hide_its_cost(
    job: Job, other_teams_job: Job
) -> None:
    requested_at = timezone.now()
    charge = ChargeFactory(job=job, state=ChargeState.SENDING, sent_at=timezone.now())
    transitions.mark_charged(charge, ChargeState.CONFIRMED, Decimal(92))
    Account.objects.update(balance_as_of=None)
    other_teams_job.account.update_balance(Decimal(1000), requested_at)
    assert other_teams_job.account.available_balance() == 908


def test_a_team_whose_token_stopped_learns_no_newer_balance(job: Job, other_teams_job: Job) -> None:
    other_teams_job.account.tokens.update(state=TokenState.REVOKED)
    job.account.update_balance(Decimal(700), timezone.now())
    other_teams_job.account.refresh_from_db()
    assert other_teams_job.account.balance == 1000


def test_a_lock_of_one_row_and_what_is_held_are_one_statement_each(job: Job) -> None:
    with CaptureQueriesContext(connection) as asked:
        Account.objects.lock_upstream_account(job.account_id)
        job.account.held_credits()
    assert len(asked) == 2
