"""A script of the demo's past: Luca's API key, the clips that it made, and its requests."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from dashboard.api_keys.actions import create_api_key
from dashboard.models import ApprovalDecision, ApprovalRequest, Membership
from proxyapi.kinds import CREATE_CLIP_OPERATION, KINDS
from proxyapi.models import (
    ApiKey,
    Charge,
    Draft,
    GatewayRequest,
    Job,
    JobKind,
    JobOrigin,
    KeyScope,
)

OWNER, APPROVER = "Luca", "Thea"
NAME, DAILY_LIMIT, REQUESTS_PER_MINUTE = "social loops", Decimal(40), 30
SCOPES = (KeyScope.READ, KeyScope.CREATE, KeyScope.RENDER)
NOTE = f"By the API key “{NAME}”."
CLIPS_BEFORE = 1  # of its owner, made by hand
APPROVED_AFTER = timedelta(minutes=35)
READ_OPERATION = KINDS[JobKind.CLIP].read_operation
LIMIT_CODE = "RATE-LIMITED"  # of the gateway
POLLS_S = (10, 30, 60)  # seconds after the order
CREATE_PATH, USER_AGENT, CLIENT_IP = "/text-to-video", "python-httpx/0.28.1", "203.0.113.24"


def store_script(members: dict[str, Membership], opened_at: datetime, now: datetime) -> None:
    """The key is as old as the past. Its clips are the newest of its owner, and an approval was
    requested for the last one."""
    owner = members[OWNER]
    key = create_api_key(
        by=owner,
        name=NAME,
        scopes=SCOPES,
        daily_limit=DAILY_LIMIT,
        requests_per_minute=REQUESTS_PER_MINUTE,
    ).key
    ApiKey.objects.filter(pk=key.pk).update(created_at=opened_at, last_used_at=now)
    clips = Job.objects.filter(tenant=key.tenant_id, kind=JobKind.CLIP, member=owner.user)
    jobs = list(clips.order_by("created_at"))[CLIPS_BEFORE:]
    Draft.objects.filter(job__in=jobs).delete()
    Job.objects.filter(pk__in=[job.pk for job in jobs]).update(
        api_key=key, origin=JobOrigin.GATEWAY
    )
    Charge.objects.filter(job__in=jobs).update(api_key=key)
    store_approval(members, jobs[-1])
    rows = [row for job in jobs for row in build_rows(job)]
    rows += build_rows_of_today(jobs[-1], now)
    GatewayRequest.objects.bulk_create(
        GatewayRequest(
            tenant_id=key.tenant_id,
            key=key,
            user_agent=USER_AGENT,
            client_ip=CLIENT_IP,
            **row,
        )
        for row in rows
    )


def store_approval(members: dict[str, Membership], job: Job) -> None:
    """It was above the key's limit of that day; the treasurer approved it."""
    charge = job.charges.get()
    requested_at = charge.created_at - APPROVED_AFTER
    ApprovalRequest.objects.create(
        team=members[OWNER].team,
        charge=charge,
        member=members[OWNER].user,
        note=NOTE,
        requested_at=requested_at,
        decision=ApprovalDecision.APPROVED,
        decided_by=members[APPROVER].user,
        decided_at=charge.created_at,
    )
    Job.objects.filter(pk=job.pk).update(created_at=requested_at)
    Charge.objects.filter(pk=charge.pk).update(created_at=requested_at)
    job.created_at = requested_at


def build_rows(job: Job) -> Iterator[dict[str, Any]]:
    """The order of a clip, and the reads until it is finished, which the portal answered. The order
    of one that was not approved first was sent twice, and carried out once."""
    charge = job.charges.select_related("approval_request").get()
    is_approved = hasattr(charge, "approval_request")
    made = {"operation": CREATE_CLIP_OPERATION, "path": CREATE_PATH, "status": 202, "job": job}
    made |= {"charge": charge, "received_at": job.created_at}
    if is_approved:
        yield {**made, "total_ms": 410, "service_ms": 180, "service_requests": 1}
    else:
        yield {**made, "total_ms": 940, "service_ms": 730, "service_requests": 2}
        again = job.created_at + timedelta(seconds=4)
        yield {**made, "received_at": again, "total_ms": 21, "is_replayed": True}
    path = f"{CREATE_PATH}/{job.remote_id}"
    for seconds in POLLS_S:
        at = (charge.sent_at or job.created_at) + timedelta(seconds=seconds)
        read = {"operation": READ_OPERATION, "path": path, "status": 200, "job": job}
        yield {**read, "received_at": at, "total_ms": 9 + seconds % 7}


def build_rows_of_today(job: Job, now: datetime) -> Iterator[dict[str, Any]]:
    """Reads of an old clip, which the service answers; the last is above the requests a minute."""
    path = f"{CREATE_PATH}/{job.remote_id}"
    read = {"operation": READ_OPERATION, "path": path, "status": 200, "job": job}
    for minutes in (50, 35, 20):
        sent = {"total_ms": 240 + minutes, "service_ms": 210 + minutes, "service_requests": 1}
        yield {**read, **sent, "received_at": now - timedelta(minutes=minutes)}
    refused = {"status": 429, "code": LIMIT_CODE, "total_ms": 6, "job": None}
    yield {**read, **refused, "received_at": now - timedelta(minutes=19, seconds=58)}
