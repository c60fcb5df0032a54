"""Kinds besides faceless videos: what is distinguished, stored, flagged, owed and polled."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge, transitions
from proxyapi.models import Charge, ChargeState, Draft, Job, JobKind, JobState, Upload
from proxyapi.operations import OPERATIONS, ExecutionEvidence
from tests.admission import admit_charge
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
CLIP = {"model": "brook", "prompt": "a lighthouse in a storm at night"}


@pytest.fixture
def clip(job: Job) -> Charge:
    """A clip that is about to be made, at an exact price."""
    draft = JobFactory(
        account=job.account, token=job.token, kind=JobKind.CLIP, draft__settings=CLIP
    )
    six = Decimal(6)
    nonce = uuid.uuid4()
    return admit_charge(ChargeIntent(draft, "text_to_video.create", nonce, six, six, body=CLIP))


def sent(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_pitfall_13_a_clip_gets_its_id_from_the_answer_and_runs(
    clip: Charge, upstream: ScriptedUpstream
) -> None:
    asset = {"asset": {"id": 88, "status": "draft", "url": None}}
    upstream.respond("POST", "/text-to-video", charged_response(asset, 6))
    assert sent(clip).state == ChargeState.CONFIRMED
    job = Job.objects.get(charges=clip)
    assert (job.remote_id, job.state, job.raw_status) == ("88", JobState.RUNNING, "draft")


@pytest.mark.parametrize(
    "data",
    [
        {"id": "a1", "status": "draft"},
        {"id": "a1", "asset": {"status": "draft"}},
        {"id": "a1", "status": "draft", "model": {"id": "brook"}},
        {"clip": {"id": "a1", "status": "draft"}},
        {"data": {"asset": {"id": "a1", "status": "draft"}}},
    ],
)
def test_pitfall_13_a_clip_finds_its_id_wherever_the_answer_has_it(
    data: Any, clip: Charge, upstream: ScriptedUpstream
) -> None:
    """The spec does not show what creating one answers."""
    upstream.respond("POST", "/text-to-video", charged_response(data, 6))
    assert sent(clip).state == ChargeState.CONFIRMED
    job = Job.objects.get(charges=clip)
    assert (job.remote_id, job.state, job.raw_status) == ("a1", JobState.RUNNING, "draft")


@pytest.mark.parametrize(
    "data", [{"status": "draft", "model": {"id": 3}}, {"a": {"id": 3}, "b": {}}, [], None]
)
def test_a_clip_takes_no_other_things_id_for_its_own(
    data: Any, clip: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/text-to-video", charged_response(data, 6))
    assert sent(clip).state == ChargeState.UNKNOWN
    assert Job.objects.get(charges=clip).remote_id is None


def test_pitfall_15_a_clip_without_an_id_in_its_answer_is_read_back(
    clip: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/text-to-video", charged_response({"asset": None}, 6))
    assert sent(clip).state == ChargeState.UNKNOWN


def test_a_clip_without_a_reported_cost_runs_and_took_its_exact_price(
    clip: Charge, upstream: ScriptedUpstream
) -> None:
    upstream.respond(
        "POST", "/text-to-video", make_response({"asset": {"id": 88, "status": "draft"}}, 202)
    )
    assert (sent(clip).state, clip.cost) == (ChargeState.CONFIRMED, 6)
    assert Job.objects.get(charges=clip).state == JobState.RUNNING


def test_a_clip_whose_cost_the_ledger_showed_is_identified_and_refunded_when_it_fails(
    clip: Charge, upstream: ScriptedUpstream
) -> None:
    """No read shows its id; it was in the answer, whose cost was not readable."""
    answer = charged_response({"asset": {"id": 88, "status": "draft"}}, "much")
    upstream.respond("POST", "/text-to-video", answer)
    sent(clip)
    booked = {"credit_spend": "-6", "created_at": timezone.now().isoformat()}
    upstream.respond("GET", "/credits/history", history_page(booked))
    reconcile_charge(clip.pk)
    clip.refresh_from_db()
    assert (clip.state, clip.cost, clip.unidentified_at) == (ChargeState.MATCHED, 6, None)
    job = Job.objects.get(charges=clip)
    assert (job.remote_id, job.state) == ("88", JobState.RUNNING)
    Charge.objects.mark_refund_owed(job, timezone.now())
    clip.refresh_from_db()
    assert clip.refund_owed_at


@pytest.mark.parametrize("settled_first", [True, False])
def test_pitfall_45_a_failed_clip_is_owed_back_once(clip: Charge, settled_first: bool) -> None:
    now = timezone.now()
    fields = {"state": ChargeState.UNKNOWN, "sent_at": now, "applied_at": now}
    Charge.objects.filter(pk=clip.pk).update(**fields)
    clip.refresh_from_db()
    if settled_first:
        transitions.mark_charged(clip, ChargeState.MATCHED, Decimal(6))
    Job.objects.filter(charges=clip).update(state=JobState.FAILED, remote_id="88")
    Charge.objects.mark_refund_owed(Job.objects.get(charges=clip), now)
    if not settled_first:
        transitions.mark_charged(clip, ChargeState.MATCHED, Decimal(6))
    clip.refresh_from_db()
    owed_since = clip.refund_owed_at
    assert owed_since
    Charge.objects.mark_refund_owed(Job.objects.get(charges=clip), timezone.now())
    clip.refresh_from_db()
    assert clip.refund_owed_at == owed_since


def test_pitfall_44_a_failed_render_is_not_owed_back(job: Job) -> None:
    now = timezone.now()
    charge = ChargeFactory(job=job, state=ChargeState.CONFIRMED, cost=92, sent_at=now)
    Charge.objects.mark_refund_owed(job, now)
    charge.refresh_from_db()
    assert charge.refund_owed_at is None


def test_pitfall_43_an_estimate_may_be_off_by_what_was_held(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7}, 104))
    charge = sent(make_held_charge())
    assert (charge.code, charge.reason) == ("", "")


def test_pitfall_115_samples_go_as_a_form_and_are_gone_when_it_is_settled(
    job: Job, upstream: ScriptedUpstream
) -> None:
    draft = JobFactory(account=job.account, token=job.token, kind=JobKind.CLONE)
    sample = Upload(field="samples[]", name="a.wav", content_type="audio/wav", content=b"RIFF")
    body = {"terms": True, "name": "Thea", "gender": "female", "purchase_addon": False}
    fifty = Decimal(50)
    create = ChargeIntent(
        draft, "voice_clones.create", uuid.uuid4(), fifty, fifty, body=body,
        uploads=(sample,),
    )  # fmt: skip
    upstream.respond("GET", "/voice-clones/slots", make_response({"available": 1, "can_buy": True}))
    upstream.respond("POST", "/voice-clones", charged_response({"id": 5, "status": "pending"}, 50))
    charge = sent(admit_charge(create))
    form = upstream.requests[-1].content.decode()
    assert (charge.state, charge.job and charge.job.remote_id) == (ChargeState.CONFIRMED, "5")
    assert 'name="samples[]"; filename="a.wav"' in form
    assert 'name="terms"\r\n\r\n1' in form
    assert "purchase_addon" not in form
    assert Upload.objects.count() == 0


def test_what_the_answer_alone_holds_is_kept_with_the_charge(
    job: Job, upstream: ScriptedUpstream
) -> None:
    found = [{"id": 3, "title": "Tides", "volume": 880}]
    upstream.respond("GET", "/ideas", make_response([]))
    upstream.respond("POST", "/ideas/discover", charged_response(found, 15, status=200))
    body = {"keyword": "tides", "network": "youtube"}
    fifteen, nonce = Decimal(15), uuid.uuid4()
    search = ChargeIntent(None, "ideas.discover", nonce, fifteen, fifteen, body, token=job.token)
    charge = sent(admit_charge(search))
    assert (charge.state, charge.result) == (ChargeState.CONFIRMED, found)


def test_pitfall_36_a_fruitless_search_costs_nothing(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond("GET", "/ideas", make_response([]))
    upstream.respond("POST", "/ideas/discover", charged_response([], 0, status=200))
    body = {"keyword": "xkcdq", "network": "youtube"}
    nonce, fifteen = uuid.uuid4(), Decimal(15)
    search = ChargeIntent(None, "ideas.discover", nonce, fifteen, fifteen, body, token=job.token)
    charge = sent(admit_charge(search))
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 0)


BUSY: dict[str, Any] = {
    "status": 403,
    "code": "GEN-FORBIDDEN",
    "message": "The video is currently processing.",
}


def test_pitfall_83_busy_may_be_the_trace_of_our_own_lost_render(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    lost = timezone.now()
    fields = {"state": ChargeState.REFUSED, "sent_at": lost, "lost_at": lost}
    ChargeFactory(job=job, **fields)
    upstream.respond(*RENDER, error_response(**BUSY))
    charge = sent(make_held_charge())
    job.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert f"lost at {lost:%H:%M} UTC. Its status is now checked" in charge.reason
    assert job.state == JobState.RUNNING


def test_pitfall_84_busy_is_polled_and_its_charge_read_back(
    job: Job, make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """It may be this very request, answered by something that sent it twice."""
    upstream.respond(*RENDER, error_response(**BUSY))
    charge = sent(make_held_charge())
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.UNKNOWN, JobState.RUNNING)
    assert charge.reason.endswith(
        "Whether it was charged is being checked. Its status is now checked."
    )
    lost_at = timezone.now() - timedelta(minutes=2)
    Charge.objects.filter(pk=charge.pk).update(sent_at=lost_at, lost_at=lost_at)
    upstream.respond("GET", "/credits/history", history_page())
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.reason.startswith(
        "The service is already processing this video. It was never charged."
    )
    assert charge.account.held_credits() == 0


def test_every_charging_operation_names_its_evidence() -> None:
    charging = {row.evidence for row in OPERATIONS.values() if row.charging}
    assert charging == {
        ExecutionEvidence.STATUS,
        ExecutionEvidence.SCRIPT,
        ExecutionEvidence.LEDGER,
        ExecutionEvidence.IDEAS,
        ExecutionEvidence.SLOTS,
    }


def test_settings_of_a_video_that_was_not_composed_here_are_never_sent(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Draft.objects.filter(pk=job.pk).delete()
    Job.objects.filter(pk=job.pk).update(remote_id="7")
    made = Job.objects.select_related("account", "token").get(pk=job.pk)
    price = Decimal(96)
    charge = admit_charge(ChargeIntent(made, "faceless.render", uuid.uuid4(), price, price))
    upstream.respond("GET", "/faceless/7", make_response({"video": {"status": "draft"}}))
    upstream.respond(*RENDER, charged_response({"video": {"status": "rendering"}}, 96))
    assert sent(charge).state == ChargeState.CONFIRMED
    assert [request.method for request in upstream.requests] == ["GET", "POST"]
