"""Where the second-person rule holds, one other person approves the whole batch."""

from __future__ import annotations

from decimal import Decimal

import pytest

from dashboard.batches import actions
from dashboard.models import AuditAction, AuditEvent
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.batches.conftest import (
    advance,
    charges_of,
    dry_run,
    hidden_fields,
    render_all,
    states,
    topics,
)

pytestmark = pytest.mark.postgresql


@pytest.fixture
def requested(make_batch, priya, client_of):
    """Three videos of up to 131 credits, where more than 200 need a second person."""
    batch = make_batch(*topics(3))
    priya.team.second_person_above = Decimal(200)
    priya.team.save()
    url = f"/batches/{batch.pk}/starts/"
    question = client_of(priya).get(url).content.decode()
    assert "Needs a second person" in question
    answer = client_of(priya).post(url, {**hidden_fields(question), "ask": "", "note": "Please"})
    assert answer["Location"] == f"/batches/{batch.pk}/"
    batch.refresh_from_db()
    assert states(batch) == ["new"] * 3
    return batch


def test_a_treasurer_starts_it_for_its_member(requested, priya, thea, client_of):
    page = client_of(thea).get(f"/batches/{requested.pk}/").content.decode()
    assert "Approve and\n" in page
    url = f"/batches/{requested.pk}/approvals/"
    question = client_of(thea).get(url).content.decode()
    client_of(thea).post(url, hidden_fields(question))
    batch = advance(requested)
    assert (batch.state, batch.approved_by, batch.max_credits) == ("running", thea.user, 393)
    assert {charge.member for charge in charges_of(batch, "faceless.scripts")} == {priya.user}
    render_all(batch)
    assert states(batch) == ["done"] * 3
    assert AuditEvent.objects.filter(action=AuditAction.BATCH_APPROVE).count() == 1


def test_nobody_approves_their_own(requested, priya, mira, client_of):
    mira.team.batches.update(member=mira.user)
    assert client_of(mira).get(f"/batches/{requested.pk}/approvals/").status_code == 403
    assert client_of(priya).get(f"/batches/{requested.pk}/approvals/").status_code == 403


def test_a_change_withdraws_the_request(requested, priya, thea):
    run = dry_run(priya, requested)
    version = actions.dry_run_version(run)
    actions.change_row(by=priya, batch=requested, number=1, cells={0: "Another lake"})
    with pytest.raises(StaleData, match="changed since"):
        actions.approve_batch(by=thea, batch=requested, seen=run.total.usual, version=version)
    assert states(requested) == ["new"] * 3


def test_a_row_above_the_rule_cannot_be_approved_with_the_others(make_batch, priya):
    batch = make_batch(*topics(2))
    priya.team.second_person_above = Decimal(130)
    priya.team.save()
    run = dry_run(priya, batch)
    with pytest.raises(Refusal, match="need a second person each"):
        actions.request_batch_approval(
            by=priya, batch=batch, seen=run.total.usual, version=actions.dry_run_version(run)
        )


def test_resuming_cannot_raise_the_limit_past_the_rule(requested, priya, thea):
    run = dry_run(priya, requested)
    version = actions.dry_run_version(run)
    actions.approve_batch(by=thea, batch=requested, seen=run.total.usual, version=version)
    actions.pause_by_person(by=priya, batch=requested)
    with pytest.raises(Refusal, match="need a second person"):
        actions.resume_batch(by=priya, batch=requested, max_credits=Decimal(800), max_failures=5)
    actions.resume_batch(by=priya, batch=requested, max_credits=Decimal(500), max_failures=5)
