"""Prices of clips: requested for what is sent, once for several changes, and never another one than
the confirmed."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge
from proxyapi.kinds import CREATE_CLIP_OPERATION, KINDS, clip_body
from proxyapi.kinds.clip import PRICE_NOT_ANSWERED, UNREADABLE_PRICE
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, JobKind, JobState, Upload
from proxyapi.polling.due_work import lease_due_quotes
from proxyapi.tasks import quote_draft_task
from tests.admission import admit_charge
from tests.factories import JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    make_response,
    rate_limited_response,
)

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
ESTIMATE = ("GET", "/text-to-video/estimate")
CREATE = ("POST", "/text-to-video")
FILE = {"file": str(uuid.uuid4()), "name": "first_frame.png"}
SETTINGS: dict[str, Any] = {
    "model": "marlow-02",
    "duration": 6,
    "resolution": "512P",
    "aspect_ratio": "16:9",
    "prompt": "a lighthouse in a storm at night",
    "first_frame": FILE,
    "last_frame": {"address": "https://media.example/1.png", "job": "x", "title": "y"},
    "kept_references": {"video": {"address": "https://media.example/2.mp4"}},
}


@pytest.fixture
def draft(db: None) -> Job:
    return JobFactory.create(
        kind=JobKind.CLIP, draft__settings=SETTINGS, draft__quote_due_at=timezone.now()
    )


def quote(job: Job) -> Draft:
    quote_draft_task(str(job.pk))
    return Draft.objects.get(pk=job.pk)


def confirmed(job: Job, price: int = 10, age: timedelta = timedelta(0)) -> Charge:
    """A clip whose price a person confirmed, so long after it was quoted."""
    Draft.objects.filter(pk=job.pk).update(
        estimate=price,
        sent_settings=SETTINGS,
        estimate_as_of=timezone.now() - age,
        quote_due_at=None,
    )
    job.refresh_from_db()
    body, credits = clip_body(SETTINGS), Decimal(price)
    intent = ChargeIntent(job, CREATE_CLIP_OPERATION, uuid.uuid4(), credits, credits, body)
    return admit_charge(intent)


def dispatched(charge: Charge) -> Charge:
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_pitfall_108_the_price_is_requested_with_what_is_sent(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, make_response({"cost": 10, "available": 900}))
    priced = quote(draft)
    assert dict(upstream.requests[0].url.params) == {
        "model": "marlow-02",
        "duration": "6",
        "resolution": "512P",
        "aspect_ratio": "16:9",
        "last_frame": "https://media.example/1.png",
    }
    assert (priced.estimate, priced.has_current_estimate, priced.quote_due_at) == (10, True, None)


def test_two_tasks_for_one_change_cost_one_request(draft: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ESTIMATE, make_response({"cost": 10}))
    quote(draft)
    quote(draft)
    assert len(upstream.requests) == 1


def test_a_price_of_a_parameter_that_changed_meanwhile_is_dropped(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    def change(_: httpx.Request) -> httpx.Response:
        changed = {**SETTINGS, "duration": 10}
        Draft.objects.filter(pk=draft.pk).update(settings=changed, quote_due_at=timezone.now())
        return make_response({"cost": 10})

    upstream.respond(*ESTIMATE, change, make_response({"cost": 16}))
    assert quote(draft).estimate is None
    assert quote(draft).estimate == 16


def test_a_prompt_that_was_written_on_meanwhile_keeps_the_price(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    def write(_: httpx.Request) -> httpx.Response:
        longer = {**SETTINGS, "prompt": "a lighthouse in a storm at night, from above"}
        Draft.objects.filter(pk=draft.pk).update(settings=longer, edited_at=timezone.now())
        return make_response({"cost": 10})

    upstream.respond(*ESTIMATE, write)
    assert quote(draft).has_current_estimate


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (error_response(403, "FEATURE-NOT-ALLOWED"), "plan does not include this"),
        (error_response(403, "REACH-PLAN-LIMIT"), "A limit of the account's plan"),
        (
            error_response(422, "VALIDATION", errors={"model": ["The selected model is invalid."]}),
            "Nothing was charged.",
        ),
        (make_response({"price_tag": "much"}), UNREADABLE_PRICE),
        (make_response("ten"), UNREADABLE_PRICE),
        (httpx.ReadError, PRICE_NOT_ANSWERED),
    ],
)
def test_without_a_price_the_draft_says_why(
    answer: Any, sentence: str, draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, answer)
    unpriced = quote(draft)
    assert unpriced.estimate is None
    assert sentence in unpriced.quote_error
    assert unpriced.settings == SETTINGS


def test_a_withdrawn_model_has_the_account_read_again(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    Account.objects.update(refreshed_at=timezone.now())
    upstream.respond(*ESTIMATE, error_response(403, "FEATURE-NOT-ALLOWED"))
    quote(draft)
    assert Account.objects.get().refreshed_at is None


@pytest.mark.parametrize("answer", [httpx.ConnectError, rate_limited_response(0)])
def test_a_price_that_did_not_come_is_requested_again(
    answer: Any, draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, answer)
    assert quote(draft).quote_due_at is not None
    Draft.objects.update(quote_due_at=timezone.now())
    assert list(lease_due_quotes()) == [draft.pk]


def test_a_fresh_price_is_not_requested_again_before_the_send(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, charged_response({"asset": {"id": 88, "status": "draft"}}, 10))
    charge = dispatched(confirmed(draft))
    assert (charge.state, charge.cost) == (ChargeState.CONFIRMED, 10)
    assert [request.method for request in upstream.requests] == ["POST"]
    (sent,) = upstream.request_bodies(*CREATE)
    assert sent == {
        "model": "marlow-02",
        "duration": 6,
        "resolution": "512P",
        "aspect_ratio": "16:9",
        "last_frame": "https://media.example/1.png",
        "prompt": SETTINGS["prompt"],
    }


@pytest.mark.parametrize("now", [12, 8])
def test_a_price_that_changed_since_is_not_paid(
    now: int, draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, make_response({"cost": now}))
    charge = dispatched(confirmed(draft, age=timedelta(minutes=9)))
    assert charge.state == ChargeState.REFUSED
    assert charge.reason == (
        f"The price is now {now} cr, it was 10 cr when this was confirmed. Nothing was sent."
    )
    draft.refresh_from_db()
    assert (draft.state, draft.draft.estimate) == (JobState.DRAFT, now)
    assert upstream.request_bodies(*CREATE) == []


def test_an_old_price_that_is_still_right_is_paid(draft: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ESTIMATE, make_response({"cost": 10}))
    upstream.respond(*CREATE, charged_response({"asset": {"id": 88, "status": "draft"}}, 10))
    assert dispatched(confirmed(draft, age=timedelta(hours=3))).state == ChargeState.CONFIRMED


@pytest.mark.parametrize(
    ("code", "status", "sentence"),
    [
        ("FEATURE-NOT-ALLOWED", 403, "plan does not include this"),
        ("REACH-PLAN-LIMIT", 403, "A limit of the account's plan"),
        ("VALIDATION", 422, "Nothing was charged."),
    ],
)
def test_a_refused_clip_is_a_draft_again_with_the_reason(
    code: str, status: int, sentence: str, draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, error_response(status, code))
    charge = dispatched(confirmed(draft))
    draft.refresh_from_db()
    assert (charge.state, draft.state) == (ChargeState.REFUSED, JobState.DRAFT)
    assert sentence in charge.reason
    assert draft.draft.settings == SETTINGS


def test_a_file_goes_beside_the_fields_of_a_form(draft: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*CREATE, charged_response({"asset": {"id": 88, "status": "draft"}}, 10))
    charge = confirmed(draft)
    Upload.objects.create(
        charge=charge,
        field="first_frame",
        name="first_frame.png",
        content_type="image/png",
        content=b"\x89PNG",
    )
    assert dispatched(charge).state == ChargeState.CONFIRMED
    request = upstream.requests[-1]
    assert request.headers["content-type"].startswith("multipart/form-data")
    assert not Upload.objects.exists()


def test_a_lost_answer_of_a_clip_is_never_sent_again(
    draft: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*CREATE, httpx.ReadError)
    charge = confirmed(draft)
    assert dispatched(charge).state == ChargeState.UNKNOWN
    dispatch_charge(charge.pk)  # a worker that was killed left its task behind
    assert len(upstream.request_bodies(*CREATE)) == 1


def test_a_clip_has_no_draft_at_the_service(draft: Job) -> None:
    spec = KINDS[JobKind.CLIP]
    assert spec.preconditions({}) == ["model"]
    assert spec.preconditions(SETTINGS) == []
