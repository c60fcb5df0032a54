"""Reading a web page: sent by a worker, waits for the shared pool by itself, ends in a sentence."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import httpx
import pytest
from django.db import IntegrityError
from django.utils import timezone

from proxyapi import rate_limiter, redis_client
from proxyapi.charges import ChargeIntent, admit
from proxyapi.charges.admission import Admission
from proxyapi.kinds import page_reading
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState, PageRead
from proxyapi.operations import RatePool
from proxyapi.polling import due_work
from proxyapi.refusals import NotReady
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    make_response,
    rate_limited_response,
)

pytestmark = pytest.mark.postgresql

PAGE = "https://travel.example.com/trains"
SCRAPE = ("POST", "/faceless/7/scrape-images")
SETTINGS = {"type": "url-based", "title": "Trains"}


def image(id: int, **fields: Any) -> dict[str, Any]:
    return {"id": id, "source": "scraped", "url": f"http://127.0.0.1/{id}.jpg", **fields}


def page_response(*images: dict[str, Any]) -> httpx.Response:
    return make_response({"id": 7, "assets": list(images), "video": {"status": "draft"}})


@pytest.fixture
def job(db: None) -> Job:
    job: Job = JobFactory.create(
        remote_id="7", draft__settings=SETTINGS, draft__sent_settings=SETTINGS
    )
    rate_limiter.apply_rate_limit_headers(redis_client.connect_redis(), job.token.bucket, 30, 30)
    page_reading.request_page_read(job, PAGE)
    return job


def read(job: Job) -> PageRead:
    """One attempt, as the worker makes it."""
    assert list(due_work.lease_due_page_reads()) == [job.pk]
    page_reading.read_page(Job.objects.get(pk=job.pk))
    return PageRead.objects.get(pk=job.pk)


def render(job: Job) -> Admission:
    """Confirm a render at the price of the page as it is now."""
    job = Job.objects.select_related("draft").get(pk=job.pk)
    return admit(ChargeIntent(job, "faceless.render", uuid4(), Decimal(1)), job.member_id)


def make_due(job: Job) -> None:
    """The time for the next attempt has come, and the pool's pause is over."""
    PageRead.objects.filter(pk=job.pk).update(due_at=timezone.now())
    redis_client.connect_redis().delete(
        f"rate-limit:{RatePool.SCRAPING.bucket_name(job.account.bucket)}"
    )


def test_the_images_are_used_in_the_order_of_the_page(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, page_response(image(12), image(11)))
    row = read(job)
    assert upstream.request_bodies(*SCRAPE) == [{"url": PAGE}]
    assert (row.state, row.due_at, row.read_url) == ("done", None, PAGE)
    assert (row.image_ids, row.takes_order) == ([12, 11], False)
    draft = Draft.objects.get(pk=job.pk)
    assert draft.settings["assets"] == [12, 11]
    assert draft.unsent_settings() == {}
    assert list(job.parts.values_list("remote_id", flat=True)) == ["12", "11"]


def test_a_draft_that_the_service_does_not_have_yet_is_created_with_its_type(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Job.objects.update(remote_id=None)
    Draft.objects.update(sent_settings={})
    upstream.respond("POST", "/faceless", make_response({"id": 7}, 201))
    upstream.respond("GET", "/faceless/7", make_response({"id": 7}))
    upstream.respond(*SCRAPE, page_response(image(12)))
    assert read(job).state == "done"
    assert upstream.request_bodies("POST", "/faceless") == [SETTINGS]


@pytest.mark.parametrize(
    "fields",
    [
        {"source_url": "https://travel.example.com/img/site-logo.png?v=3"},
        {"text": "Banner: early booking"},
        {"width": 96, "height": 400},
    ],
    ids=["logo", "advert", "small"],
)
def test_what_looks_like_no_picture_is_left_out_where_the_service_takes_an_order(
    job: Job, upstream: ScriptedUpstream, fields: dict[str, Any]
) -> None:
    upstream.respond(*SCRAPE, page_response(image(12, used=True, **fields), image(11, used=True)))
    row = read(job)
    draft = Draft.objects.get(pk=job.pk)
    assert (row.image_ids, row.takes_order) == ([12, 11], True)
    assert draft.settings["assets"] == [11]
    assert draft.unsent_settings() == {"assets": [11]}


def test_a_service_without_an_order_uses_all_images(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, page_response(image(12, text="Logo"), image(11)))
    read(job)
    assert Draft.objects.get(pk=job.pk).settings["assets"] == [12, 11]


def test_a_page_of_logos_alone_is_used_as_it_is(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, page_response(image(12, text="Logo", used=True)))
    read(job)
    assert Draft.objects.get(pk=job.pk).settings["assets"] == [12]


def test_a_page_without_images_ends_with_none(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, page_response())
    row = read(job)
    assert (row.state, row.image_ids) == ("done", [])
    assert Draft.objects.get(pk=job.pk).settings["assets"] == []


@pytest.mark.parametrize("told", [None, 40], ids=["backoff", "Retry-After"])
def test_pitfall_27_a_used_up_pool_is_waited_for(
    job: Job, upstream: ScriptedUpstream, told: int | None
) -> None:
    """Six attempts, then a sentence with how long it took."""
    upstream.respond(*SCRAPE, rate_limited_response(left=12, seconds=told))
    for attempt, delay_s in enumerate(page_reading.RETRY_DELAYS_S, start=1):
        row = read(job)
        assert (row.state, row.attempts, row.message) == ("waiting", attempt, "")
        assert row.due_at is not None
        left = row.due_at - timezone.now()
        assert timedelta(0) < timedelta(seconds=told or delay_s) - left < timedelta(seconds=5)
        make_due(job)
    PageRead.objects.update(requested_at=timezone.now() - timedelta(minutes=11))
    row = read(job)
    assert (row.state, row.due_at) == ("failed", None)
    assert row.message.startswith("The queue was full for 11 min. 6 attempts, the last at ")
    assert len(upstream.requests) == 6


def test_a_page_is_read_after_the_pool_is_free_again(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, rate_limited_response(left=12), page_response(image(12)))
    read(job)
    make_due(job)
    assert read(job).state == "done"


def test_nothing_is_sent_while_another_draft_has_to_wait(
    job: Job, upstream: ScriptedUpstream
) -> None:
    store, pool = redis_client.connect_redis(), RatePool.SCRAPING
    rate_limiter.pause_bucket(store, pool.bucket_name(job.account.bucket), 30)
    row = read(job)
    assert (row.state, row.attempts, upstream.requests) == ("waiting", 0, [])


def test_the_tokens_own_limit_is_no_attempt(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, rate_limited_response(left=0, seconds=20))
    row = read(job)
    assert (row.state, row.attempts) == ("waiting", 0)
    assert "too many requests" in row.message


@pytest.mark.parametrize("silence", [httpx.ReadTimeout, httpx.ConnectError])
def test_silence_is_tried_again_because_reading_is_free(
    job: Job, upstream: ScriptedUpstream, silence: type[Exception]
) -> None:
    upstream.respond(*SCRAPE, silence)
    row = read(job)
    assert (row.state, row.attempts) == ("waiting", 1)
    assert row.message


def test_a_refusal_is_quoted_with_what_to_do(job: Job, upstream: ScriptedUpstream) -> None:
    refusal = httpx.Response(
        422, json={"message": "Invalid.", "errors": {"url": ["The page could not be reached."]}}
    )
    upstream.respond(*SCRAPE, refusal)
    row = read(job)
    assert row.state == "failed"
    assert row.message == (
        "“The page could not be reached.” Check the address; the page must open without signing in."
    )


def test_a_token_that_is_refused_ends_it(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, error_response(401, "GEN-UNAUTHORIZED"))
    assert read(job).state == "failed"


def test_a_leased_request_is_due_again_when_its_worker_died(job: Job) -> None:
    assert list(due_work.lease_due_page_reads()) == [job.pk]
    assert list(due_work.lease_due_page_reads()) == []
    due_at = PageRead.objects.get().due_at
    assert due_at is not None
    assert due_at - timezone.now() <= due_work.PAGE_READ_LEASE


def test_a_stopped_request_is_not_sent(job: Job, upstream: ScriptedUpstream) -> None:
    page_reading.stop_page_read(job)
    page_reading.read_page(job)
    assert (PageRead.objects.get().state, upstream.requests) == ("stopped", [])


def test_images_that_arrive_after_a_stop_are_still_the_drafts(
    job: Job, upstream: ScriptedUpstream
) -> None:
    def stop(request: httpx.Request) -> httpx.Response:
        page_reading.stop_page_read(job)
        return page_response(image(12))

    upstream.respond(*SCRAPE, stop)
    row = read(job)
    assert (row.state, row.image_ids) == ("stopped", [12])
    assert Draft.objects.get(pk=job.pk).settings["assets"] == [12]


@pytest.mark.parametrize(
    "change",
    [{"state": JobState.RUNNING, "next_poll_at": timezone.now()}, {}],
    ids=["sent", "type"],
)
def test_a_draft_that_was_sent_or_is_of_another_type_reads_no_page(
    job: Job, upstream: ScriptedUpstream, change: dict[str, Any]
) -> None:
    if change:
        Job.objects.update(**change)
    else:
        Draft.objects.update(settings={**SETTINGS, "type": "b-roll"})
    assert read(job).state == "failed"
    assert upstream.requests == []


@pytest.mark.parametrize("state", [ChargeState.DRAFT, ChargeState.HELD])
def test_a_confirmed_render_keeps_its_images(
    job: Job, upstream: ScriptedUpstream, state: ChargeState
) -> None:
    ChargeFactory.create(job=job, state=state)
    row = read(job)
    assert (row.state, row.message) == ("failed", page_reading.CHANGED_MEANWHILE)
    assert upstream.requests == []


def test_images_that_arrive_after_a_render_was_confirmed_are_not_stored(
    job: Job, upstream: ScriptedUpstream
) -> None:
    Draft.objects.update(settings={**SETTINGS, "assets": [9]})

    def confirm(request: httpx.Request) -> httpx.Response:
        ChargeFactory.create(job=job)
        return page_response(image(12))

    upstream.respond("PATCH", "/faceless/7", make_response({"id": 7}))
    upstream.respond(*SCRAPE, confirm)
    row = read(job)
    assert (row.state, row.message) == ("failed", page_reading.CHANGED_MEANWHILE)
    assert (row.image_ids, Draft.objects.get(pk=job.pk).settings["assets"]) == ([], [9])
    assert not job.parts.exists()


def test_no_render_is_admitted_until_the_service_has_answered_a_stopped_request(
    job: Job, upstream: ScriptedUpstream
) -> None:
    """The service may replace the images of the draft as long as it has not answered."""
    refusals = []

    def stop_and_render(request: httpx.Request) -> httpx.Response:
        page_reading.stop_page_read(job)
        with pytest.raises(NotReady, match=r"may still replace the images") as refused:
            render(job)
        refusals.append(refused.value.sentence)
        return page_response(image(12))

    upstream.respond(*SCRAPE, stop_and_render)
    read(job)
    assert "in 75 s at the latest" in refusals[0]
    assert not Charge.objects.exists()
    assert render(job).is_new


def test_no_render_is_admitted_while_a_page_is_to_be_read(job: Job) -> None:
    with pytest.raises(NotReady, match="The page is being read"):
        render(job)
    PageRead.objects.update(state="stopped", due_at=None, answer_due_at=timezone.now())
    assert render(job).is_new


def test_a_request_that_fails_lets_renders_be_admitted_again(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*SCRAPE, error_response(401, "GEN-UNAUTHORIZED"))
    assert read(job).answer_due_at is None
    assert render(job).is_new


def test_an_older_request_does_not_release_the_images_of_a_later_one(
    job: Job, upstream: ScriptedUpstream
) -> None:
    later = timezone.now() + timedelta(seconds=80)

    def send_another(request: httpx.Request) -> httpx.Response:
        PageRead.objects.update(answer_due_at=later)
        return page_response(image(12))

    upstream.respond(*SCRAPE, send_another)
    assert read(job).answer_due_at == later


def test_images_that_are_no_list_are_none(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*SCRAPE, make_response({"id": 7, "assets": 3}))
    row = read(job)
    assert (row.state, row.image_ids) == ("done", [])


def test_an_answer_that_cannot_be_stored_ends_it(
    job: Job, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object) -> None:
        raise ValueError("unreadable")

    monkeypatch.setattr(page_reading, "store_parts", fail)
    upstream.respond(*SCRAPE, page_response(image(12)))
    with pytest.raises(ValueError, match="unreadable"):
        read(job)
    row = PageRead.objects.get()
    assert (row.state, row.message) == ("failed", page_reading.READER_CRASHED)
    assert list(due_work.lease_due_page_reads()) == []


@pytest.mark.parametrize(
    "wrong",
    [{"state": "dream"}, {"state": "done"}, {"state": "waiting", "due_at": None}],
    ids=["unknown state", "done but due", "waiting for nothing"],
)
def test_the_database_refuses_a_request_that_cannot_be(job: Job, wrong: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError):
        PageRead.objects.filter(pk=job.pk).update(**wrong)
