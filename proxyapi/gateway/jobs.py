"""Jobs of what scripts make: without a draft, as the portal never writes over their settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from proxyapi.events import EventType, publish_event
from proxyapi.kinds import KINDS
from proxyapi.models import ApiKey, Job, JobOrigin, Token
from proxyapi.operations import Operation

TITLE_FIELDS = ("title", "name", "topic", "prompt", "keyword", "url")
MAX_TITLE_CHARS = 200


def job_of_request(
    key: ApiKey,
    token: Token,
    operation: Operation,
    path: Mapping[str, str],
    fields: Mapping[str, Any],
) -> Job | None:
    """The job that the operation concerns: the one with this id, or a new one. None for an
    operation without one. Runs in the caller's transaction."""
    if operation.kind is None:
        return None
    if operation.creates:
        return create_job(key, token, operation, None, fields)
    remote_id = next(iter(path.values()))
    job = find_job(token, operation, remote_id)
    return job or create_job(key, token, operation, remote_id, fields)


def find_job(token: Token, operation: Operation, remote_id: str) -> Job | None:
    jobs = Job.objects.filter(account=token.account_id, kind=operation.kind, remote_id=remote_id)
    return jobs.select_related("token__account", "account").first()


def create_job(
    key: ApiKey,
    token: Token,
    operation: Operation,
    remote_id: str | None,
    fields: Mapping[str, Any],
) -> Job:
    """The job of a resource that a script makes, or that is not known here yet."""
    new = {
        "tenant_id": key.tenant_id,
        "member_id": key.owner_id,
        "token": token,
        "origin": JobOrigin.GATEWAY,
        "api_key": key,
        "title": title_of(operation, remote_id, fields),
    }
    if remote_id is None:
        return Job.objects.create(account=token.account, kind=operation.kind or "", **new)
    job, _ = Job.objects.get_or_create(
        account=token.account, kind=operation.kind or "", remote_id=remote_id, defaults=new
    )
    return job


def title_of(operation: Operation, remote_id: str | None, fields: Mapping[str, Any]) -> str:
    texts = (fields.get(name) for name in TITLE_FIELDS)
    named = next((text for text in texts if isinstance(text, str) and text.strip()), "")
    title = " ".join(named.split()) or f"{operation.kind} {remote_id or ''}".strip().capitalize()
    return title[:MAX_TITLE_CHARS]


@transaction.atomic
def store_created_job(
    key: ApiKey, token: Token, operation: Operation, data: Any, fields: Mapping[str, Any]
) -> Job | None:
    """The job of a resource that a free operation created; None if the answer names no id."""
    kind = KINDS[operation.kind] if operation.kind else None
    remote_id = kind.created_id(kind.resource_in(data)) if kind else ""
    if not remote_id:
        return None
    job = create_job(key, token, operation, remote_id, fields)
    publish_event(job.tenant_id, EventType.JOB, job.pk)
    return job
