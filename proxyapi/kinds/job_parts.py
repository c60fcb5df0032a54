"""Store the lists of a resource's record as parts of its job.

The spec documents no shape for them, so anything is accepted: an item without an id is left out, a
field of another type is empty, and a list that the record lacks stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from proxyapi.events import EventType, publish_event
from proxyapi.models import Job, JobPart
from proxyapi.models.job_part import PartSource, PartState
from proxyapi.upstream import response_parsing

MAX_PARTS_PER_LIST = 500
MAX_POSITION = 32_767
MAX_CLOCK_AHEAD = timedelta(minutes=1)
TEXT_KEYS = ("text", "words", "script", "narration", "caption")
URL_KEYS = ("url", "media_url", "image_url", "video_url")
CONTENT_FIELDS = (
    "position",
    "status",
    "media_url",
    "source",
    "text",
    "failure_message",
    "details",
)
FILE_URL_KEYS = ("original_url", *URL_KEYS)  # of a file in `media`
NAMED_KEYS = {"id", "position", "order", "status", "source", "failure", "media"}
NAMED_KEYS |= {*TEXT_KEYS, *URL_KEYS}


def store_parts(
    job: Job,
    record: Any,
    lists: Iterable[str],
    requested_at: datetime | None = None,
    *,
    keeps_missing: bool = False,
) -> None:
    """Store those of the `lists` that the record has; parts that are gone from them are deleted
    unless `keeps_missing`.

    `requested_at` is when the record was requested, by default now. An older record than the stored
    one changes nothing. Publishes an event if something else than a signature changed.
    """
    read_at = requested_at or timezone.now()
    fetched = {name: parse_part_list(record, name) for name in lists}
    wanted = {name: rows for name, rows in fetched.items() if rows is not None}
    if not wanted:
        return
    with transaction.atomic():
        Job.objects.select_for_update(of=("self",)).filter(pk=job.pk).first()
        known = list(JobPart.objects.filter(job=job, list_name__in=wanted))
        # A time in the future was recorded before the clock was set back.
        latest = timezone.now() + MAX_CLOCK_AHEAD
        newer = {part.list_name for part in known if read_at < part.read_at <= latest}
        current = {name: rows for name, rows in wanted.items() if name not in newer}
        if replace_parts(job, current, known, read_at, keeps_missing=keeps_missing):
            publish_event(job.tenant_id, EventType.JOB, job.pk)


def replace_parts(
    job: Job,
    wanted: Mapping[str, Mapping[str, dict[str, Any]]],
    known: Iterable[JobPart],
    read_at: datetime,
    *,
    keeps_missing: bool,
) -> bool:
    """Write the lists, and return whether something else than a signature changed."""
    before = {(part.list_name, part.remote_id): part for part in known if part.list_name in wanted}
    parts = [
        JobPart(job=job, list_name=name, remote_id=id, read_at=read_at, **fields)
        for name, rows in wanted.items()
        for id, fields in rows.items()
    ]
    for part in parts:
        known_part = before.get((part.list_name, part.remote_id))
        # A record that goes back from completed to rendering does not take the file away.
        part.media_url = part.media_url or (known_part.media_url if known_part else "")
        was_finished = known_part is not None and known_part.state == part.state
        ended_at = known_part.finished_at if known_part and was_finished else read_at
        part.finished_at = None if part.state == PartState.RUNNING else ended_at
    after = {(part.list_name, part.remote_id): part for part in parts}
    gone = [part.pk for key, part in before.items() if key not in after]
    if gone and not keeps_missing:
        JobPart.objects.filter(pk__in=gone).delete()
    JobPart.objects.bulk_create(
        parts,
        update_conflicts=True,
        unique_fields=["job", "list_name", "remote_id"],
        update_fields=[*CONTENT_FIELDS, "finished_at", "read_at"],
    )
    if keeps_missing:
        before = {key: part for key, part in before.items() if key in after}
    return before.keys() != after.keys() or any(
        shown_content(part) != shown_content(before[key]) for key, part in after.items()
    )


def shown_content(part: JobPart) -> tuple[object, ...]:
    fields = [getattr(part, name) for name in CONTENT_FIELDS if name != "media_url"]
    return (*fields, bool(part.media_url), part.media_version)


def parse_part_list(record: Any, name: str) -> dict[str, dict[str, Any]] | None:
    """The fields of each item by its id; None if the record has no such list."""
    rows = record.get(name) if isinstance(record, dict) else None
    if not isinstance(rows, list):
        return None
    items = [row for row in rows if isinstance(row, dict)]
    if all(is_whole_number(row.get("order")) for row in items):  # from 0 or from 1
        items.sort(key=lambda row: int(row["order"]))
    found: dict[str, dict[str, Any]] = {}
    for row in items[:MAX_PARTS_PER_LIST]:
        if response_parsing.is_resource_id(row.get("id")):
            found.setdefault(str(row["id"]), parse_part(row, place=len(found) + 1))
    return found


def parse_part(row: Mapping[str, Any], place: int) -> dict[str, Any]:
    """The fields of a `JobPart` in an item; `place` is used if it names no position of its own."""
    position = row.get("position")
    is_place = is_whole_number(position)
    failure = row.get("failure")
    message = failure.get("message") if isinstance(failure, dict) else failure
    source = row.get("source")
    others = {key: value for key, value in row.items() if key not in NAMED_KEYS}
    return {
        "position": position if is_place and 0 < position <= MAX_POSITION else place,  # type: ignore[operator]
        "status": first_text(row, ("status",))[:60],
        "media_url": media_url_in(row),
        "source": source if source in PartSource.values else "",
        "text": first_text(row, TEXT_KEYS),
        "failure_message": message[:2000] if isinstance(message, str) else "",
        "details": json.loads(json.dumps(others, default=str)),
    }


def is_whole_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def media_url_in(row: Mapping[str, Any]) -> str:
    """The address of an item's file: its own, else that of the first file in its `media`."""
    media = row.get("media")
    files = media if isinstance(media, list) else [media]
    urls = (first_text(file, FILE_URL_KEYS) for file in files if isinstance(file, dict))
    return first_text(row, URL_KEYS) or next(filter(None, urls), "")


def first_text(row: Mapping[str, Any], keys: Iterable[str]) -> str:
    """The first of these values that is a text; empty without one."""
    return next((row[key] for key in keys if isinstance(row.get(key), str)), "")
