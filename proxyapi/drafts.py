"""Drafts: what a person chose lives here first; the upstream gets it for a price or a render.

So nothing is lost while the upstream is away, and a step of the studio costs no request until all
that the service asks for is there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import redis
from django.conf import settings
from django.utils import timezone
from redis.lock import Lock

from proxyapi import calls
from proxyapi.allowance import AllowanceExhausted, AllowanceUnknown, Lane, connection
from proxyapi.events import Event, publish
from proxyapi.models import ChargeState, Job, JobState
from proxyapi.models.job import IN_DOUBT
from proxyapi.upstream import errors, wire
from proxyapi.upstream.catalog import operation

DRAFT_FIELDS = (
    *("remote_id", "wanted", "sent", "edited_at"),
    *("lost_creations", "create_again_at"),
)
LOCK = 45.0  # seconds; longer than one request and its waits, and begun anew before the next
TURN = 3.0  # seconds to wait for another process that holds the lock
SELDOM = 240.0  # seconds to the next try to fetch a script, or another price than an old one
PRICE_KEEPS = timedelta(days=1)  # then it is asked again while somebody's consent is waited for
WHILE_CHARGED = 10.0  # seconds to the next try while a charge of the draft is open
UNFIT = (errors.NotFound, errors.Precondition, errors.Invalid)  # of this draft as it stands
NEEDS_GENRE = ("ai-visuals", "ai-clips")
# What POST /faceless is known to take; everything else follows by PATCH.
AT_CREATION = ("type", "title", "topic")
# To the next try after a lost answer, in `CHARGE_AGAIN_AFTER`: 30 s, 5 minutes, then 10. Each try
# may leave a draft that nobody finds again, because the service shows no list of them.
CREATE_AGAIN_AFTER = (3, 30, 60)


def missing(wanted: dict[str, Any]) -> list[str]:
    """The render preconditions of the spec that a draft does not meet yet, as field names."""
    needs = ["script", "voice_id"]
    if wanted.get("type") in NEEDS_GENRE:
        needs.append("genre_id")
    return [name for name in needs if not wanted.get(name)]


def sync(job: Job, lane: Lane = Lane.PERSON, patience: float = 2) -> dict[str, Any]:
    """Put the draft upstream as it stands and answer the upstream's record of it.

    Free of charge, so it may be repeated. Raises `errors.UpstreamError`, `AllowanceExhausted`.
    """
    with alone(job) as held:
        return put(job, lane, patience, held)


class DraftBusy(AllowanceExhausted):
    """Another process puts the draft upstream just now, or died doing it a moment ago."""

    @property
    def user_message(self) -> str:
        return "Nothing was sent yet. The draft is on its way to the service; it goes on by itself."


class CreationWaits(AllowanceExhausted):
    """The answer to the making of this draft was lost; it is tried again in `wait` seconds."""

    @property
    def user_message(self) -> str:
        return (
            "The service did not answer when it was to make this draft. Nothing was charged. "
            f"It is tried again in {max(1, round(self.wait))} s."
        )


class DraftNotMade(errors.Unsendable):
    """It was tried as often as drafts nobody finds again may be left; a person is told."""

    code = "DRAFT-NOT-MADE"
    sentence = (
        f"The service did not answer {len(CREATE_AGAIN_AFTER)} tries to make this draft. Nothing "
        "was charged, and nothing is sent for ten minutes. Then try again."
    )


@contextmanager
def alone(job: Job) -> Iterator[Lock]:
    """One process at a time puts a draft upstream: two differences must not cross on the way.

    Raises `DraftBusy`. Who dies in here keeps the others out for `LOCK` seconds at most.
    """
    lock = connection().lock(f"reelroom:draft:{job.pk}", timeout=LOCK, blocking_timeout=TURN)
    try:
        held = lock.acquire()
    except redis.RedisError:
        raise AllowanceUnknown(TURN) from None
    if not held:
        raise DraftBusy(TURN)
    try:
        job.refresh_from_db(fields=DRAFT_FIELDS)
        yield lock
    finally:
        with suppress(redis.RedisError):  # lost or run out: it ends by itself
            lock.release()


def put(job: Job, lane: Lane, patience: float, held: Lock) -> dict[str, Any]:
    if job.remote_id is None:
        create(job, lane, patience)
        with suppress(redis.RedisError):
            held.reacquire()
    changes = {name: value for name, value in job.unsent().items() if name != "type"}
    if has_unread_script(job):
        changes.pop("script", None)  # it would be put over the one that nobody read
    if not changes:
        return read(job, lane, patience)
    # Until the answer is here nobody knows which value the service has: who takes the change back
    # has that told, too.
    job.sent = {**job.sent, **dict.fromkeys(changes, IN_DOUBT)}
    job.save(update_fields=["sent"])
    path = {"faceless": str(job.remote_id)}
    reply = calls.call(
        job.token, "faceless.patch", lane, patience=patience, path=path, json=changes
    )
    job.sent = {**job.sent, **changes}
    job.save(update_fields=["sent"])
    return record(reply.data)


def read(job: Job, lane: Lane, patience: float) -> dict[str, Any]:
    path = {"id": str(job.remote_id)}
    return record(calls.call(job.token, "faceless.get", lane, patience=patience, path=path).data)


def create(job: Job, lane: Lane, patience: float) -> None:
    check_creation(job)
    first = {name: job.wanted[name] for name in AT_CREATION if job.wanted.get(name)}
    try:
        reply = calls.call(job.token, "faceless.create", lane, patience=patience, json=first)
        job.remote_id, job.sent = new_id(job, record(reply.data)), first
    except errors.UpstreamError as error:
        if error.outcome is errors.Outcome.UNKNOWN:
            note_lost_creation(job)
        raise
    # The lock may have been lost with Redis. The first one stays: it may be the one that is paid.
    free = Job.objects.filter(pk=job.pk, remote_id__isnull=True)
    if not free.update(remote_id=job.remote_id, sent=job.sent):
        job.refresh_from_db(fields=["remote_id", "sent"])


def check_creation(job: Job) -> None:
    """Raises `CreationWaits`, and `DraftNotMade` after the last try, until it may be made again."""
    left = (job.create_again_at - timezone.now()).total_seconds() if job.create_again_at else 0
    if left > 0 and job.lost_creations >= len(CREATE_AGAIN_AFTER):
        raise DraftNotMade(operation("faceless.create"))
    if left > 0:
        raise CreationWaits(left)


def note_lost_creation(job: Job) -> None:
    wait = CREATE_AGAIN_AFTER[min(job.lost_creations, len(CREATE_AGAIN_AFTER) - 1)]
    job.create_again_at = timezone.now() + wait * timedelta(seconds=settings.CHARGE_AGAIN_AFTER)
    job.lost_creations += 1
    job.save(update_fields=["lost_creations", "create_again_at"])


def new_id(job: Job, record: dict[str, Any]) -> str:
    id = record.get("id")
    if not wire.is_id(id) or job.is_anothers(str(id)):
        raise errors.AnswerLost(operation("faceless.create"))
    return str(id)


def record(data: Any) -> dict[str, Any]:
    """The faceless record, whether it stands in `data` itself or one level down."""
    if not isinstance(data, dict):
        return {}
    inner = data.get("faceless")
    return inner if isinstance(inner, dict) else data


def unread(page: str) -> dict[str, str]:
    """What stands in `sent` for a script that was ordered and read by nobody; `page`: the script
    that the page showed then."""
    return {"unread beside": page}


def has_unread_script(job: Job) -> bool:
    """Whether a script has to be fetched: one was ordered, and the page's is as it was then."""
    page = job.wanted.get("script") or ""
    return job.remote_id is not None and job.sent.get("script") == unread(page)


def fetch_script(job: Job) -> None:
    """Take over the script that the service has of this draft: it was paid for, or may have been.

    With the draft to itself. Raises `errors.UpstreamError`, `AllowanceExhausted`.
    """
    try:
        found = read(job, Lane.PERSON, 2)
    except errors.NotFound:
        found = {"script": ""}
    if "script" not in found:
        raise errors.AnswerLost(operation("faceless.get"))
    job.sent = {name: value for name, value in job.sent.items() if name != "script"}
    if isinstance(script := found["script"], str) and script:
        job.wanted, job.sent = {**job.wanted, "script": script}, {**job.sent, "script": script}
    now = timezone.now()
    fields = {"wanted": job.wanted, "sent": job.sent, "edited_at": now, "quote_due_at": now}
    # Whoever wrote meanwhile keeps the own words.
    Job.objects.filter(pk=job.pk, edited_at=job.edited_at).update(quote_error="", **fields)
    publish(job.vault_id, Event.JOB, job.pk)


def quote(job: Job) -> None:
    """Ask the price of the draft as it stands; what went wrong is kept as a sentence, not raised.

    Several askings of one change end in one request: who comes second finds the price there. While
    the account is of another upstream it stays due.
    """
    if not job.account.is_of_current_upstream:
        return
    asked_at, edited_at = timezone.now(), job.edited_at
    found: dict[str, object] = {"estimate": None, "quote_error": "", "quote_due_at": None}
    found["quote_fields"] = None
    is_short = bool(missing(job.wanted)) and not has_unread_script(job)
    is_known = job.priced and not is_wanted_anew(job, asked_at)
    if job.state not in (JobState.DRAFT, JobState.FAILED) or is_short or is_known:
        Job.objects.filter(pk=job.pk, edited_at=edited_at).update(quote_due_at=None)
        return
    try:
        with alone(job) as held:
            if job.charges.holding().exists():  # what only waits for a consent changes nothing
                # What it charges for is told from how the draft was before: it stays like that.
                later(job, asked_at, WHILE_CHARGED)
                return
            edited_at = job.edited_at
            if has_unread_script(job):
                fetch_script(job)  # the next asking is for its price
                return
            put(job, Lane.PERSON, 2, held)
        path = {"faceless": str(job.remote_id)}
        reply = calls.call(job.token, "faceless.estimate", Lane.PERSON, patience=2, path=path)
        found["estimate"] = price_in(reply.data)
        if found["estimate"] is None:
            found["quote_error"] = "The service gave no price that we can read."
    except AllowanceExhausted as exhausted:
        later(job, asked_at, max(1.0, exhausted.wait))
        return
    except errors.UpstreamError as error:
        if job.priced and not isinstance(error, UNFIT):
            later(job, asked_at, SELDOM)  # the price of before keeps its age
            return
        found["quote_error"] = error.user_message
        found["quote_fields"] = error.field_sentences if isinstance(error, errors.Invalid) else None
        if has_unread_script(job) and not isinstance(error, calls.LASTING):
            found["quote_due_at"] = asked_at + timedelta(seconds=SELDOM)
    # Whoever changed it meanwhile has asked again; this price is not theirs.
    Job.objects.filter(pk=job.pk, edited_at=edited_at).update(**found, estimate_as_of=asked_at)
    publish(job.vault_id, Event.JOB, job.pk)


def is_wanted_anew(job: Job, now: datetime) -> bool:
    """Whether somebody is to consent to a price that is old, or that a person had asked again."""
    is_old = job.estimate_as_of is not None and job.estimate_as_of < now - PRICE_KEEPS
    return (is_old or job.quote_due_at is not None) and awaits_consent(job)


def awaits_consent(job: Job) -> bool:
    """Whether somebody was asked to consent to the price, and has not decided yet."""
    return job.charges.filter(state=ChargeState.DRAFT).exists()


def later(job: Job, asked_at: datetime, seconds: float) -> None:
    Job.objects.filter(pk=job.pk).update(quote_due_at=asked_at + timedelta(seconds=seconds))


def price_in(data: Any) -> Decimal | None:
    """The credits in an estimate whose exact shape the spec does not show."""
    if (amount := wire.amount(data)) is not None:
        return amount if amount >= 0 else None
    if isinstance(data, dict):
        for name in ("credits", "cost", "estimate", "estimated_credits", "required", "total"):
            found = price_in(data.get(name))
            if found is not None:
                return found
    return None
