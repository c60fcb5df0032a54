"""Drafts: created upstream when a price is requested, patched with changes, priced or refused."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import httpx
import pytest
from django.utils import timezone

from proxyapi import redis_client, tasks
from proxyapi.kinds import draft_creation, faceless_draft
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.polling import due_work
from proxyapi.upstream import errors
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

READY = {"type": "ai-visuals", "title": "Ice", "script": "It moves.", "voice_id": 3, "genre_id": 2}
ESTIMATE = ("GET", "/faceless/7/estimate")


@pytest.fixture
def upstream(upstream: ScriptedUpstream) -> ScriptedUpstream:
    upstream.respond("POST", "/faceless", make_response({"id": 7, "video_id": 1007}, 201))
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond("GET", "/faceless/7", make_response({"id": 7}))
    return upstream


@pytest.fixture
def job(db: None) -> Job:
    return JobFactory(draft__settings=READY)


def test_the_first_price_creates_the_draft_and_sends_what_it_lacks(
    job: Job, upstream: ScriptedUpstream
) -> None:
    """pitfall_01: by its `id`; its `video_id` opens nothing."""
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.remote_id == "7"
    assert upstream.request_bodies("POST", "/faceless") == [{"type": "ai-visuals", "title": "Ice"}]
    assert upstream.request_bodies("PATCH", "/faceless/7") == [
        {"script": "It moves.", "voice_id": 3, "genre_id": 2}
    ]
    assert job.draft.estimate == Decimal(96)
    assert job.draft.has_current_estimate


PATCH = ("PATCH", "/faceless/7")
CHOSEN = {"font_family": "mono", "position": "top"}


@pytest.mark.parametrize(
    ("shown", "sent"),
    [
        ({"captions": {"font_family": "serif", "font_color": "#fff"}}, {"font_color": "#fff"}),
        ({"captions": None}, {}),
        ({"captions": []}, {}),
        ({"captions": {**CHOSEN, "font_color": "#fff"}}, None),
        ({"captions": True}, None),
        ({}, None),
    ],
)
def test_captions_are_sent_as_the_record_shows_them(
    shown: dict[str, object], sent: dict[str, str] | None, job: Job, upstream: ScriptedUpstream
) -> None:
    job.draft.settings = {**READY, "font": "mono", "caption_position": "top"}
    upstream.respond(*PATCH, make_response({"id": 7, **shown}))
    for title in ("Ice", "Ice again"):
        job.draft.settings["title"] = title
        job.draft.save()
        faceless_draft.sync_draft(job)
    first, *others = upstream.request_bodies(*PATCH)
    assert (first["font"], first["caption_position"]) == ("mono", "top")
    again = [] if sent is None else [{"captions": {**sent, **CHOSEN}}]
    assert others == [*again, {"title": "Ice again"}]


@pytest.mark.parametrize("chosen", [{"font": "mono", "caption_position": "top"}, {}])
def test_a_refusal_that_names_the_captions_is_answered_with_an_object_or_null(
    chosen: dict[str, str], job: Job, upstream: ScriptedUpstream
) -> None:
    job.draft.settings = {**READY, **chosen}
    job.draft.save()
    errors_of_fields = {"captions": ["The captions field must be present."]}
    refusal = httpx.Response(422, json={"message": "Invalid.", "errors": errors_of_fields})
    upstream.respond(*PATCH, refusal, make_response({"id": 7}))
    faceless_draft.sync_draft(job)
    bodies = upstream.request_bodies(*PATCH)
    assert bodies[-1] == {**bodies[0], "captions": CHOSEN if chosen else None}
    upstream.respond(*PATCH, refusal)
    job.draft.settings["title"] = "Ice again"
    job.draft.save()
    with pytest.raises(errors.ValidationFailed):
        faceless_draft.sync_draft(job)
    assert len(upstream.request_bodies(*PATCH)) == 4


def test_pitfall_120_a_later_price_sends_only_what_changed(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    job.draft.settings = {**job.draft.settings, "voice_id": 4}
    job.draft.save()
    assert not job.draft.has_current_estimate
    faceless_draft.quote_draft(job)
    assert upstream.request_bodies("PATCH", "/faceless/7")[1:] == [{"voice_id": 4}]
    assert len(upstream.request_bodies("POST", "/faceless")) == 1


def test_another_type_is_sent_before_the_next_price(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    job.draft.settings = {**job.draft.settings, "type": "b-roll"}
    job.draft.save()
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert upstream.request_bodies("PATCH", "/faceless/7")[1:] == [{"type": "b-roll"}]
    assert job.draft.has_current_estimate


def wish(job: Job, voice: int | None) -> None:
    job.draft.settings = {**job.draft.settings, "voice_id": voice}
    job.draft.save(update_fields=["settings"])


@pytest.mark.parametrize("had", [3, None])
def test_a_change_whose_answer_got_lost_is_sent_again_when_it_is_reverted(
    had: int | None, job: Job, upstream: ScriptedUpstream
) -> None:
    """Nobody knows which of the two it has."""
    good = make_response({"id": 7})
    upstream.respond("PATCH", "/faceless/7", good, httpx.ReadTimeout, good)
    wish(job, had)
    faceless_draft.sync_draft(job)
    wish(job, 4)
    with pytest.raises(errors.ResponseLost):
        faceless_draft.sync_draft(job)
    wish(job, had)
    assert job.draft.unsent_settings() == {"voice_id": had}
    faceless_draft.sync_draft(job)
    assert upstream.request_bodies("PATCH", "/faceless/7")[1:] == [
        {"voice_id": 4},
        {"voice_id": had},
    ]
    job.refresh_from_db()
    assert job.draft.sent_settings == job.draft.settings


def test_after_a_change_whose_answer_got_lost_the_price_from_before_it_counts_no_more(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.has_current_estimate
    upstream.respond("PATCH", "/faceless/7", httpx.ReadTimeout)
    wish(job, 4)
    with pytest.raises(errors.ResponseLost):
        faceless_draft.sync_draft(job)
    wish(job, 3)
    assert not job.draft.has_current_estimate


@pytest.fixture
def draft_awaiting_approval(job: Job, upstream: ScriptedUpstream) -> Job:
    """A render at 96 cr, for which somebody's consent is waited for since more than a day."""
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    Draft.objects.update(estimate_as_of=timezone.now() - timedelta(hours=25))
    ChargeFactory(job=job, operation="faceless.render", state=ChargeState.DRAFT)
    upstream.requests.clear()
    return Job.objects.get()


def by_the_beat() -> Job:
    due_work.requeue_stale_quotes()
    for id in due_work.lease_due_quotes():
        tasks.quote_draft_task(str(id))
    return Job.objects.get()


def test_a_price_that_somebody_decides_on_is_asked_again_when_it_is_a_day_old(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, make_response({"credits": 120}))
    assert by_the_beat().draft.estimate == 120
    assert len(upstream.requests) == 2
    assert by_the_beat().draft.quote_due_at is None
    assert len(upstream.requests) == 2, "once a day"


def test_the_price_of_a_draft_that_nobody_decides_on_keeps_its_age(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    Charge.objects.update(state=ChargeState.REFUSED)
    by_the_beat()
    assert upstream.requests == []


def test_a_price_that_cannot_be_asked_again_stays_and_is_asked_for_later(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, httpx.Response(503))
    job = by_the_beat()
    assert (job.draft.estimate, job.draft.quote_error) == (Decimal(96), "")
    assert job.draft.quote_due_at is not None
    assert job.draft.quote_due_at > timezone.now() + timedelta(minutes=3)
    due_work.reschedule_after_clock_rollback()
    assert list(due_work.lease_due_quotes()) == []


def test_nobody_goes_on_asking_once_nothing_waits_for_a_consent(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*ESTIMATE, httpx.Response(503))
    by_the_beat()
    Charge.objects.update(state=ChargeState.REFUSED)
    upstream.requests.clear()
    Draft.objects.update(quote_due_at=timezone.now())
    job = by_the_beat()
    assert (job.draft.estimate, job.draft.quote_due_at) == (Decimal(96), None)
    assert upstream.requests == []


def test_a_draft_whose_pricing_was_given_up_is_not_taken_up_by_itself(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    Draft.objects.update(quote_error="Asking for the price failed five times.")
    by_the_beat()
    assert upstream.requests == []


def test_a_draft_that_is_gone_there_has_no_price_any_more(
    draft_awaiting_approval: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", error_response(404, "GEN-NOT-FOUND"))
    job = by_the_beat()
    assert job.draft.estimate is None
    assert "did not find this" in job.draft.quote_error


def test_an_incomplete_draft_costs_no_request(upstream: ScriptedUpstream, db: None) -> None:
    faceless_draft.quote_draft(JobFactory(draft__settings={"type": "ai-visuals", "title": "Ice"}))
    assert upstream.requests == []


def test_a_refused_price_is_a_sentence(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*ESTIMATE, error_response(422, "GEN-WRONG-ARGS", "Voice not found."))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.estimate is None
    assert job.draft.quote_error


def test_a_draft_that_comes_back_without_its_id_is_no_question_of_credits(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/faceless", make_response({"title": "Ice"}, 201))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.remote_id is None
    assert job.draft.quote_error == (
        "We do not know whether this was done. The service's response was lost."
    )


def test_a_draft_that_comes_back_with_the_id_of_another_is_not_known_to_be_there(
    job: Job, upstream: ScriptedUpstream
) -> None:
    JobFactory(account=job.account, token=job.token, remote_id="7")
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.remote_id is None
    assert job.draft.quote_error.startswith("We do not know whether this was done.")


def test_an_upstream_that_is_down_loses_nothing(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond("POST", "/faceless", httpx.ConnectError)
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.settings == READY
    assert job.draft.quote_error


@pytest.mark.parametrize(
    ("data", "price"),
    [
        ({"credits": 96}, 96),
        ({"estimate": {"credits": "96.5"}}, Decimal("96.5")),
        ({"cost": 12, "balance": 900}, 12),
        (96, 96),
        ({"credits": None, "balance": 900}, None),
        ({"credits": -3}, None),
        ("soon", None),
        (None, None),
    ],
)
def test_a_price_is_found_in_whatever_shape_it_comes(data: object, price: object) -> None:
    assert faceless_draft.parse_estimate_credits(data) == price


def lock_of(job: Job) -> str:
    return f"reelroom:draft:{job.pk}"


def test_who_died_putting_a_draft_upstream_keeps_the_others_out_for_a_moment_only(
    job: Job, upstream: ScriptedUpstream
) -> None:
    """A minute is the most that a charge may wait for it; each request has the whole of the lock
    before it."""
    left: list[int] = []

    def created(_: httpx.Request) -> httpx.Response:
        redis_client.connect_redis().pexpire(lock_of(job), 1000)  # the request took so long
        return make_response({"id": 7}, 201)

    def patched(_: httpx.Request) -> httpx.Response:
        left.append(redis_client.connect_redis().pttl(lock_of(job)))
        return make_response({"id": 7})

    upstream.respond("POST", "/faceless", created)
    upstream.respond("PATCH", "/faceless/7", patched)
    faceless_draft.sync_draft(job)
    assert 30_000 < left[0] <= 50_000


def test_a_draft_that_another_process_puts_upstream_says_so(
    job: Job, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draft_creation, "DRAFT_LOCK_WAIT_S", 0.01)
    redis_client.connect_redis().set(lock_of(job), "another's", px=5000)
    with pytest.raises(draft_creation.DraftBusy) as busy:
        faceless_draft.sync_draft(job)
    assert "The draft is being sent" in busy.value.user_message
    assert upstream.requests == []


def test_a_price_that_waits_for_approval_is_requested_again_once_per_request(
    job: Job, upstream: ScriptedUpstream
) -> None:
    """It stays until another one is there (dashboard/studio/actions.py)."""
    upstream.respond(*ESTIMATE, make_response({"credits": 120}))
    ChargeFactory(job=job, state=ChargeState.DRAFT)
    due_at = timezone.now()
    Job.objects.update(remote_id="7")
    Draft.objects.update(sent_settings=READY, estimate=96, quote_due_at=due_at)
    for _ in range(2):
        faceless_draft.quote_draft(Job.objects.get())
    draft = Draft.objects.get()
    assert (draft.estimate, draft.quote_due_at) == (120, None)
    assert len(upstream.request_bodies(*ESTIMATE)) == 1


def test_a_value_that_the_service_does_not_accept_is_named_with_its_limit(
    job: Job, upstream: ScriptedUpstream
) -> None:
    said = "The script field must not be greater than 5000 characters."
    body = {"message": said, "errors": {"script": [said, "Another."]}}
    upstream.respond("PATCH", "/faceless/7", httpx.Response(422, json=body))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert job.draft.quote_error == (
        f"The service does not accept the script: “{said}” Nothing was charged."
    )
    assert job.draft.quote_fields == {"script": said}
    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond(*ESTIMATE, make_response({"credits": 96}))
    faceless_draft.quote_draft(job)
    job.refresh_from_db()
    assert (job.draft.quote_error, job.draft.quote_fields) == ("", None)
