"""Drafts: what a person chose lives here first; the upstream gets it when a price or a render needs
it.

So nothing is lost while the upstream is away, and a step of the studio costs no request until all
that
the service asks for is there.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from django.utils import timezone

from proxyapi import calls
from proxyapi.allowance import AllowanceExhausted, Lane
from proxyapi.events import Event, publish
from proxyapi.models import Job, JobState
from proxyapi.upstream import errors

NEEDS_GENRE = ("ai-visuals", "ai-clips")
# What POST /faceless is known to take; everything else follows by PATCH.
AT_CREATION = ("type", "title", "topic")


def missing(wanted: dict[str, Any]) -> list[str]:
    """The render preconditions of the spec that a draft does not meet yet, as field names."""
    needs = ["script", "voice_id"]
    if wanted.get("type") in NEEDS_GENRE:
        needs.append("genre_id")
    return [name for name in needs if not wanted.get(name)]


def sync(job: Job, lane: Lane = Lane.PERSON, patience: float = 30) -> dict[str, Any]:
    """Put the draft upstream as it stands and answer the upstream's record of it.

    Free of charge, so it may be repeated. Raises `errors.UpstreamError`, `AllowanceExhausted`.
    """
    if job.remote_id is None:
        create(job, lane, patience)
    path = {"faceless": str(job.remote_id)}
    if changes := job.unsent():
        changes = {name: value for name, value in changes.items() if name != "type"}
    if not changes:
        reply = calls.call(
            job.token, "faceless.get", lane, patience=patience, path={"id": path["faceless"]}
        )
        return record(reply.data)
    reply = calls.call(
        job.token, "faceless.patch", lane, patience=patience, path=path, json=changes
    )
    note_sent(job, changes)
    return record(reply.data)


def create(job: Job, lane: Lane, patience: float) -> None:
    first = {name: job.wanted[name] for name in AT_CREATION if job.wanted.get(name)}
    reply = calls.call(job.token, "faceless.create", lane, patience=patience, json=first)
    remote_id = record(reply.data).get("id")
    if remote_id is None:
        raise errors.AnswerLost()
    # Two workers may both have created one: the first row wins, the other draft stays unused and
    # free.
    Job.objects.filter(pk=job.pk, remote_id__isnull=True).update(
        remote_id=str(remote_id), sent=first
    )
    job.refresh_from_db(fields=["remote_id", "sent"])


def note_sent(job: Job, changes: dict[str, Any]) -> None:
    job.sent = {**job.sent, **changes}
    job.save(update_fields=["sent"])


def record(data: Any) -> dict[str, Any]:
    """The faceless record, whether it stands in `data` itself or one level down."""
    if not isinstance(data, dict):
        return {}
    inner = data.get("faceless")
    return inner if isinstance(inner, dict) else data


def quote(job: Job) -> None:
    """Ask the price of the draft as it stands; what went wrong is kept as a sentence, not
    raised."""
    if job.state not in (JobState.DRAFT, JobState.FAILED) or missing(job.wanted):
        Job.objects.filter(pk=job.pk).update(quote_due_at=None)
        return
    asked_at = timezone.now()
    try:
        sync(job)
        reply = calls.call(
            job.token,
            "faceless.estimate",
            Lane.PERSON,
            patience=30,
            path={"faceless": str(job.remote_id)},
        )
        job.estimate, job.quote_error = price_in(reply.data), ""
        if job.estimate is None:
            job.quote_error = "The service gave no price that we can read."
    except errors.UpstreamError as error:
        job.estimate, job.quote_error = None, error.user_message
    except AllowanceExhausted:
        job.estimate, job.quote_error = (
            None,
            "All requests of this minute are used. The price comes by itself.",
        )
    job.estimate_as_of = asked_at
    job.quote_due_at = None
    job.save(update_fields=["estimate", "estimate_as_of", "quote_due_at", "quote_error"])
    publish(job.vault_id, Event.JOB, job.pk)


def price_in(data: Any) -> Decimal | None:
    """The credits in an estimate whose exact shape the spec does not show."""
    if isinstance(data, int | float | str):
        return decimal(data)
    if isinstance(data, dict):
        for name in ("credits", "cost", "estimate", "estimated_credits", "required", "total"):
            found = price_in(data.get(name))
            if found is not None:
                return found
    return None


def decimal(value: object) -> Decimal | None:
    try:
        amount = Decimal(str(value))
    except ArithmeticError:
        return None
    return amount if amount.is_finite() and amount >= 0 else None
