"""Parts of a job: what a record's lists store, what they leave, and what an odd record does."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings

from proxyapi.charges import dispatch_charge
from proxyapi.kinds import KINDS, faceless_draft
from proxyapi.kinds.job_parts import MAX_PARTS_PER_LIST, store_parts
from proxyapi.models import Job, JobPart
from proxyapi.polling.poller import poll_job, refresh_media_url
from proxyapi.upstream import response_parsing
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.mutated_responses import EXAMPLES, mutated_records
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, make_response

LISTS = ("assets", "exports")
HOST = "http://127.0.0.1:8001/media"


def scene(id: int, text: str = "Ice.", **more: Any) -> dict[str, Any]:
    return {"id": id, "source": "generated", "text": text, "url": f"{HOST}/{id}.jpg", **more}


RECORD = {
    "id": 7,
    "assets": [scene(61), scene(62, "Snow.", type="image")],
    "exports": [{"id": 9, "status": "rendering", "url": None, "failure": None}],
    "video": {"status": "rendering", "url": None},
}


@pytest.fixture
def job(db: None) -> Job:
    return JobFactory.create(remote_id="7", state="completed")


def stored(job: Job, name: str = "assets") -> list[tuple[str, int, str]]:
    parts = JobPart.objects.filter(job=job, list_name=name)
    return [(part.remote_id, part.position, part.text) for part in parts]


def test_assets_with_media_and_an_order_from_0_have_a_picture_and_a_place(job: Job) -> None:
    file = {"original_url": f"{HOST}/a.jpg", "conversions": {"thumb": f"{HOST}/t.jpg"}}
    rows = [
        {"id": 62, "order": 1, "media": [{"conversions": {}}, file]},
        {"id": 61, "order": 0, "media": file},
        {"id": 63, "order": 2, "media": None},
    ]
    store_parts(job, {"assets": rows}, LISTS)
    parts = [(part.remote_id, part.position, part.media_url) for part in job.parts.all()]
    assert parts == [("61", 1, f"{HOST}/a.jpg"), ("62", 2, f"{HOST}/a.jpg"), ("63", 3, "")]


def test_a_part_that_goes_back_to_rendering_keeps_its_file(job: Job) -> None:
    for status, url in (("completed", f"{HOST}/9.mp4"), ("rendering", None), ("odd", "")):
        store_parts(job, {"exports": [{"id": 9, "status": status, "url": url}]}, LISTS)
    export = job.parts.get()
    assert (export.state, export.media_url) == ("running", f"{HOST}/9.mp4")


def test_each_item_of_each_list_becomes_a_part(job: Job) -> None:
    store_parts(job, RECORD, LISTS)
    assert stored(job) == [("61", 1, "Ice."), ("62", 2, "Snow.")]
    part = job.parts.get(remote_id="62")
    assert (part.source, part.media_url, part.details) == (
        "generated",
        f"{HOST}/62.jpg",
        {"type": "image"},
    )
    export = job.parts.get(list_name="exports")
    assert (export.status, export.media_url, export.failure_message) == ("rendering", "", "")


def test_a_part_keeps_its_row_and_one_that_is_gone_is_deleted(job: Job) -> None:
    store_parts(job, RECORD, LISTS)
    kept = job.parts.get(remote_id="62").pk
    store_parts(job, {"assets": [scene(62, "Sleet."), scene(63)]}, LISTS)
    assert stored(job) == [("62", 1, "Sleet."), ("63", 2, "Ice.")]
    assert job.parts.get(remote_id="62").pk == kept
    assert stored(job, "exports") == [("9", 1, "")], "a record without the list says nothing of it"


def test_an_older_record_changes_nothing(job: Job) -> None:
    now = timezone.now()
    store_parts(job, {"assets": [scene(61, "New.")]}, LISTS, now)
    store_parts(job, {"assets": [scene(61, "Old."), scene(62)]}, LISTS, now - timedelta(seconds=1))
    assert stored(job) == [("61", 1, "New.")]


def test_a_failed_export_keeps_the_services_words(job: Job) -> None:
    failure = {"code": "EXPORT", "message": "Caption font not available."}
    store_parts(job, {"exports": [{"id": 9, "status": "failed", "failure": failure}]}, LISTS)
    assert job.parts.get().failure_message == "Caption font not available."


def test_only_another_file_is_another_version(job: Job) -> None:
    """A signed address differs at each read."""
    url = f"{HOST}/61.jpg"
    first, again, other = (JobPart(media_url=f"{url}?s=1"), JobPart(media_url=f"{url}?s=2"), None)
    other = JobPart(media_url=f"{HOST}/62.jpg?s=1")
    assert first.media_version == again.media_version != other.media_version


@pytest.mark.parametrize("record", [None, [], "x", {}, {"assets": None}, {"assets": {"id": 1}}])
def test_a_record_without_a_list_leaves_what_is_stored(job: Job, record: Any) -> None:
    store_parts(job, RECORD, LISTS)
    store_parts(job, record, LISTS)
    assert len(stored(job)) == 2


def test_odd_items_are_left_out_and_odd_fields_are_empty(job: Job) -> None:
    items: list[Any] = [7, None, {}, {"id": True}, {"id": "x" * 65}, scene(61), scene(61, "Twice.")]
    odd = {"id": 62, "position": -4, "status": 5, "source": "stolen", "text": [], "url": {}}
    huge = {"id": 63, "position": 10**12, "status": "s" * 99}
    store_parts(job, {"assets": [*items, odd, huge]}, LISTS)
    assert stored(job) == [("61", 1, "Ice."), ("62", 2, ""), ("63", 3, "")]
    part = job.parts.get(remote_id="62")
    assert (part.status, part.source, part.media_url) == ("", "", "")


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(record=mutated_records(RECORD))
def test_no_mutated_record_raises(job: Job, record: Any) -> None:
    try:
        data = response_parsing.parse_json(json.dumps(record).encode())
    except response_parsing.UnreadableBody:
        return
    KINDS[job.kind].store_parts(job, data)
    assert job.parts.count() <= 2 * MAX_PARTS_PER_LIST


def test_the_table_holds_each_item_once(job: Job) -> None:
    store_parts(job, RECORD, LISTS)
    again = {"job": job, "list_name": "assets", "remote_id": "61", "read_at": timezone.now()}
    with pytest.raises(IntegrityError), transaction.atomic():
        JobPart.objects.create(position=1, **again)
    with pytest.raises(IntegrityError), transaction.atomic():
        JobPart.objects.create(position=1, **again | {"remote_id": "65"}, source="stolen")


def test_every_read_of_the_record_stores_them(upstream: ScriptedUpstream, db: None) -> None:
    job = JobFactory.create(remote_id="7", draft__settings={"title": "Ice"})
    upstream.respond("GET", "/faceless/7", make_response({"faceless": RECORD}))
    upstream.respond("PATCH", "/faceless/7", make_response(RECORD))
    reads = [
        lambda: faceless_draft.sync_draft(job),
        lambda: faceless_draft.sync_draft(job),  # nothing is unsent: it is read
        lambda: refresh_media_url(job),
    ]
    for read in reads:
        JobPart.objects.all().delete()
        read()
        assert JobPart.objects.count() == 3


def test_a_poll_stores_them(upstream: ScriptedUpstream, db: None) -> None:
    now = timezone.now()
    times = {"started_at": now - timedelta(seconds=60), "next_poll_at": now}
    job = JobFactory.create(remote_id="7", state="running", **times)
    upstream.respond("GET", "/faceless/7", make_response(RECORD))
    poll_job(job.pk)
    assert len(stored(job)) == 2


def test_the_answer_to_a_charge_stores_them(upstream: ScriptedUpstream, db: None) -> None:
    job = JobFactory.create(remote_id="7", state="completed")
    charge = ChargeFactory.create(job=job, operation="faceless.export", state="held")
    upstream.respond("GET", "/faceless/7", make_response({"id": 7}))
    upstream.respond("POST", "/faceless/7/export", charged_response(RECORD, 5))
    dispatch_charge(charge.pk)
    assert stored(job, "exports") == [("9", 1, "")]
