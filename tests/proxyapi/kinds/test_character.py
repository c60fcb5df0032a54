"""A character upstream: made from its photo before the first preview, which is free and bounded;
its previews are kept; its training is told by its status."""

from __future__ import annotations

import uuid
from decimal import Decimal
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import calls, redis_client, stored_files
from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.models import Account, Charge, ChargeState, Job, JobKind, JobState, StoredFile
from proxyapi.operations import RatePool
from proxyapi.polling.poller import poll_job
from proxyapi.rate_limiter import Permit, Priority, try_acquire
from proxyapi.refusals import AlreadyInProgress
from tests.admission import admit_charge
from tests.factories import AccountFactory, JobFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    error_response,
    history_page,
    make_response,
)

PHOTO = b"\xff\xd8\xff the bytes of a photo"
GENRE = {"genre_id": 308}
TRAINING = {"preview_id": 93001, "name": "Maja", "age": 28, "gender": "female"}
PICTURES = [
    {"id": 93001 + number, "genre_id": 308, "url": f"https://media.example/{number}.png"}
    for number in range(3)
]


def record(status: str = "draft", previews: Any = ()) -> dict[str, Any]:
    return {"id": 5200, "uuid": "6f1c", "status": status, "previews": list(previews)}


@pytest.fixture
def job(db: None) -> Job:
    """A character that exists only here, with its photo."""
    job = JobFactory.create(
        account=AccountFactory.create(balance=Decimal(1000)),
        kind=JobKind.CHARACTER,
        title="maja-portrait",
        remote_id=None,
        draft__settings=GENRE,
    )
    stored_files.store_file(job, name="maja.jpg", content_type="image/jpeg", content=PHOTO)
    return job


def preview_charge(job: Job) -> Charge:
    zero = Decimal(0)
    intent = ChargeIntent(job, "characters.preview", uuid.uuid4(), zero, zero, body=GENRE)
    return admit_charge(intent)


def training_charge(job: Job) -> Charge:
    ten = Decimal(10)
    return admit_charge(
        ChargeIntent(job, "characters.train", uuid.uuid4(), ten, ten, body=TRAINING)
    )


def kill_worker(_: httpx.Request) -> httpx.Response:
    raise KeyboardInterrupt


def is_at_the_service(job: Job, status: JobState = JobState.DRAFT) -> Job:
    Job.objects.filter(pk=job.pk).update(remote_id="5200", state=status)
    StoredFile.objects.all().delete()
    job.refresh_from_db()
    return job


def sent(upstream: ScriptedUpstream, path: str) -> int:
    posts = [row for row in upstream.requests if row.method == "POST"]
    return sum(row.url.path == f"/v2{path}" for row in posts)


def test_the_first_preview_makes_the_character_and_deletes_the_photo(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/characters", make_response(record(), 201))
    upstream.respond("GET", "/characters/5200", make_response(record()))
    upstream.respond("POST", "/characters/5200/preview", make_response(record("draft", PICTURES)))
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    job.refresh_from_db()
    assert (job.remote_id, job.state) == ("5200", JobState.DRAFT)
    assert not StoredFile.objects.exists()
    (create,) = [row for row in upstream.requests if row.url.path == "/v2/characters"]
    assert PHOTO in create.content and b"maja.jpg" not in create.content
    parts = list(job.parts.order_by("position"))
    assert [part.upstream_id for part in parts] == [93001, 93002, 93003]
    assert {part.charge_id for part in parts} == {charge.pk}


def test_a_worker_killed_between_photo_and_preview_sends_no_second_photo(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/characters", make_response(record(), 201))
    upstream.respond("GET", "/characters/5200", kill_worker, make_response(record()))
    upstream.respond("POST", "/characters/5200/preview", make_response(record("draft", PICTURES)))
    charge = preview_charge(job)
    with pytest.raises(KeyboardInterrupt):
        dispatch_charge(charge.pk)
    dispatch_charge(charge.pk)
    assert (sent(upstream, "/characters"), sent(upstream, "/characters/5200/preview")) == (1, 1)


def test_a_lost_answer_to_the_photo_delays_the_next_attempt_and_keeps_the_photo(
    job: Job, upstream: ScriptedUpstream
) -> None:
    upstream.respond("POST", "/characters", httpx.ReadTimeout)
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    job.draft.refresh_from_db()
    assert sent(upstream, "/characters") == 1
    assert (charge.state, job.draft.unanswered_creates) == (ChargeState.HELD, 1)
    assert "did not respond when creating" in charge.reason
    assert StoredFile.objects.filter(job=job).exists()


def test_a_photo_that_the_service_refuses_ends_the_preview_with_its_sentence(
    job: Job, upstream: ScriptedUpstream
) -> None:
    refusal = {"image": ["The image must show one face."]}
    upstream.respond(
        "POST", "/characters", error_response(422, "VALIDATION-FAILED", errors=refusal)
    )
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.reason
    assert StoredFile.objects.filter(job=job).exists()


def test_a_photo_that_is_gone_is_asked_for_again(job: Job, upstream: ScriptedUpstream) -> None:
    StoredFile.objects.all().delete()
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, upstream.requests) == (ChargeState.REFUSED, [])
    assert "Choose it again" in charge.reason


def test_an_empty_pool_of_previews_sends_nothing_and_waits(
    job: Job, upstream: ScriptedUpstream
) -> None:
    is_at_the_service(job)
    store, name = redis_client.connect_redis(), RatePool.PREVIEWS.bucket_name(job.account.bucket)
    for _ in range(5):
        try_acquire(store, name, Priority.PERSON, limit=5)
    upstream.respond("GET", "/characters/5200", make_response(record()))
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, sent(upstream, "/characters/5200/preview")) == (ChargeState.HELD, 0)
    assert "only a few requests of this kind" in charge.reason


def test_a_second_round_keeps_the_pictures_of_the_first_even_if_its_answer_lacks_them(
    job: Job, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A new Redis lends the second preview only after twelve seconds.
    monkeypatch.setattr(calls, "acquire_permit", lambda *_, **__: Permit(True, 0.0))
    is_at_the_service(job)
    upstream.respond("GET", "/characters/5200", make_response({"id": 5200, "status": "draft"}))
    first, second = {"previews": PICTURES[:2]}, {"previews": PICTURES[2:]}
    upstream.respond(
        "POST", "/characters/5200/preview", make_response(first), make_response(second)
    )
    charges = [preview_charge(job)]
    dispatch_charge(charges[0].pk)
    charges.append(preview_charge(job))  # although the cost of the first is read yet
    dispatch_charge(charges[1].pk)
    linked = job.parts.order_by("remote_id").values_list("charge_id", flat=True)
    assert list(linked) == [charges[0].pk, charges[0].pk, charges[1].pk]


def test_pictures_whose_answer_was_lost_are_read_back_and_not_paid_again(
    job: Job, upstream: ScriptedUpstream
) -> None:
    is_at_the_service(job)
    upstream.respond(
        "GET", "/characters/5200", make_response(record()), make_response(record("draft", PICTURES))
    )
    upstream.respond("POST", "/characters/5200/preview", httpx.ReadTimeout)
    upstream.respond("GET", "/credits/history", history_page())
    charge = preview_charge(job)
    dispatch_charge(charge.pk)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.applied_at is not None
    assert job.parts.filter(charge=charge).count() == 3
    assert sent(upstream, "/characters/5200/preview") == 1


def test_one_preview_at_a_time_and_no_training_before_its_pictures_are_here(job: Job) -> None:
    charge = preview_charge(job)
    for again in (preview_charge, training_charge):
        with pytest.raises(AlreadyInProgress):
            again(job)
    unknown = {"state": ChargeState.UNKNOWN, "sent_at": timezone.now()}
    Charge.objects.filter(pk=charge.pk).update(**unknown, applied_at=timezone.now())
    training_charge(job)


def test_a_lost_answer_to_a_training_is_settled_by_the_status_and_never_sent_again(
    job: Job, upstream: ScriptedUpstream
) -> None:
    is_at_the_service(job)
    upstream.respond(
        "GET", "/characters/5200", make_response(record()), make_response(record("training"))
    )
    upstream.respond("POST", "/characters/5200/train", httpx.ReadTimeout)
    upstream.respond("GET", "/credits/history", history_page())
    charge = training_charge(job)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    reconcile_charge(charge.pk)
    job.refresh_from_db()
    assert job.state == JobState.RUNNING
    assert sent(upstream, "/characters/5200/train") == 1


def test_a_trained_character_makes_the_options_due(job: Job, upstream: ScriptedUpstream) -> None:
    is_at_the_service(job)
    Account.objects.update(refreshed_at=timezone.now())
    upstream.respond("GET", "/characters/5200", make_response(record()))
    upstream.respond(
        "POST", "/characters/5200/train", charged_response(record("training"), 10, 990)
    )
    dispatch_charge(training_charge(job).pk)
    upstream.respond("GET", "/characters/5200", make_response(record("ready")))
    Job.objects.update(next_poll_at=timezone.now(), polled_at=None)
    assert poll_job(job.pk) == job.account_id
    job.refresh_from_db()
    assert (job.state, Account.objects.get().refreshed_at) == (JobState.COMPLETED, None)


def test_a_failed_training_ends_the_job_with_the_words_of_the_service(
    job: Job, upstream: ScriptedUpstream
) -> None:
    is_at_the_service(job)
    Account.objects.update(refreshed_at=timezone.now())
    upstream.respond("GET", "/characters/5200", make_response(record()))
    upstream.respond(
        "POST", "/characters/5200/train", charged_response(record("training"), 10, 990)
    )
    dispatch_charge(training_charge(job).pk)
    failed = {**record("failed"), "failure": "Face not clear"}
    upstream.respond("GET", "/characters/5200", make_response(failed))
    Job.objects.update(next_poll_at=timezone.now(), polled_at=None)
    assert poll_job(job.pk) is None
    job.refresh_from_db()
    assert (job.state, job.failure_message) == (JobState.FAILED, "Face not clear")
    dispatch_charge(training_charge(job).pk)  # again, at its price
    assert sent(upstream, "/characters/5200/train") == 2
