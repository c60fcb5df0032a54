"""The stop of all charges: nothing is admitted or sent after it, and nothing sent is lost."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal

import httpx
import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from proxyapi.charges import (
    ChargeIntent,
    admit,
    approve_draft_charge,
    cancel_held_charges,
    dispatch_charge,
    reconcile_charge,
)
from proxyapi.models import Charge, ChargeState, Job, JobState, Tenant
from proxyapi.refusals import ChargesStopped
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
REASON = "A script went wild"


def stop(job: Job) -> None:
    Tenant.objects.filter(pk=job.tenant_id).update(
        charges_stopped_at=timezone.now(),
        charges_stopped_by="Mira Sandvik",
        charge_stop_reason=REASON,
    )


def intent_for(job: Job, nonce: uuid.UUID | None = None) -> ChargeIntent:
    return ChargeIntent(job, "faceless.render", nonce or uuid.uuid4(), Decimal(106), Decimal(96))


def test_nothing_is_admitted_and_the_sentence_says_who_and_why(job: Job) -> None:
    stop(job)
    for needs_approval in (False, True):
        with pytest.raises(ChargesStopped) as refused:
            admit(intent_for(job), job.member_id, needs_approval=needs_approval)
        assert refused.value.sentence.startswith("Not sent. Mira Sandvik stopped all charges")
        assert f"“{REASON}”" in refused.value.sentence
    assert not Charge.objects.exists()


def test_a_form_that_was_admitted_before_gets_its_charge(job: Job) -> None:
    nonce = uuid.uuid4()
    before = admit(intent_for(job, nonce), job.member_id)
    stop(job)
    assert admit(intent_for(job, nonce), job.member_id) == (before.charge, False)


def test_another_tenant_is_not_stopped(job: Job, other_teams_job: Job) -> None:
    stop(job)
    assert admit(intent_for(other_teams_job), other_teams_job.member_id).is_new


def test_an_approval_waits_until_charges_are_allowed(job: Job, make_held_charge: Held) -> None:
    charge = make_held_charge()
    Charge.objects.filter(pk=charge.pk).update(state=ChargeState.DRAFT, held_at=None)
    stop(job)
    charge.refresh_from_db()
    with pytest.raises(ChargesStopped):
        approve_draft_charge(charge)
    charge.refresh_from_db()
    assert charge.state == ChargeState.DRAFT


def test_a_held_charge_that_waits_is_released(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge()
    stop(job)
    assert cancel_held_charges(job.tenant_id, "Charges were stopped.") == 1
    charge.refresh_from_db()
    assert (charge.state, charge.reason) == (ChargeState.REFUSED, "Charges were stopped.")
    assert job.account.held_credits() == 0
    dispatch_charge(charge.pk)
    assert upstream.request_bodies(*RENDER) == []


def test_a_worker_that_takes_it_up_after_the_stop_releases_it(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The process that pressed stop may have died before it released anything."""
    charge = make_held_charge()
    stop(job)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert "Mira Sandvik stopped all charges" in charge.reason
    assert upstream.requests == []


def test_a_stop_while_a_worker_prepares_it_prevents_the_claim(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = make_held_charge()

    def meanwhile(request: httpx.Request) -> httpx.Response:
        stop(job)
        return make_response(video_response("draft"))

    upstream.respond("GET", "/faceless/7", meanwhile)
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(charge.pk)
    assert upstream.request_bodies(*RENDER) == []
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED


def test_what_was_sent_when_the_stop_came_is_settled_as_always(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    def stopped_meanwhile(request: httpx.Request) -> httpx.Response:
        stop(job)
        assert cancel_held_charges(job.tenant_id, "Charges were stopped.") == 0
        response: httpx.Response = charged_response({"id": 7}, 92, remaining=908)
        return response

    upstream.respond(*RENDER, stopped_meanwhile)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost, job.state) == (ChargeState.CONFIRMED, 92, JobState.RUNNING)


def test_what_provably_did_not_start_is_not_sent_again(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, httpx.ConnectError)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.HELD
    stop(job)
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert len(upstream.request_bodies(*RENDER)) <= 1


def test_an_unknown_charge_is_still_settled_by_reading(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, httpx.ReadTimeout)
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    stop(job)
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    reconcile_charge(charge.pk)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING


def test_a_lifted_stop_admits_and_sends_again(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    stop(job)
    Tenant.objects.update(charges_stopped_at=None, charges_stopped_by="", charge_stop_reason="")
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    charge = make_held_charge()
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED


@pytest.mark.parametrize(
    "fields", [{"charges_stopped_at": timezone.now()}, {"charge_stop_reason": "x"}]
)
def test_the_database_keeps_a_stop_with_its_reason(fields: dict[str, object], job: Job) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Tenant.objects.filter(pk=job.tenant_id).update(**fields)
