"""Notify members of what concerns them alone: their videos, their requests, their tokens.

Each run finds what happened lately and notifies of what it has not notified of yet, so a lost run
loses nothing and two runs at once notify once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone

from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    Batch,
    BatchRowState,
    BatchState,
    NotificationKind,
    PlannedRender,
    Series,
    Team,
    User,
)
from dashboard.shared.approvals import approval_page_url, request_title
from dashboard.shared.formatting import credits
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.notifications import Notification, drop_known, notify_person
from dashboard.shared.videos.status_text import failure_reason
from proxyapi.models import Job, JobOrigin, JobState, Token, TokenState

VIDEO_MAX_AGE = timedelta(hours=1)  # what ended earlier is old news
ANSWER_MAX_AGE = timedelta(days=1)
MAX_VIDEOS_PER_RUN = 200
VIDEO_READY = "It is ready to watch and download."
STOPPED_TITLE = "Your token …{last_four} stopped working"
REFUSED_BY_SERVICE = (
    "The service refused it. What it started goes on at the service. Add a new token, so that "
    "Reelroom can follow your videos and send new ones."
)
PersonalNotification = tuple[int, Notification]  # the user's id


def notify_members(team_id: UUID) -> None:
    """Notify the members of a team of what happened since the last run."""
    team = Team.objects.select_related("tenant").get(pk=team_id)
    now = timezone.now()
    found = [
        *find_ended_videos(team, now),
        *find_answered_requests(team, now),
        *find_stopped_tokens(team, now),
        *find_ended_plans(team, now),
        *find_ended_batches(team, now),
        *find_paused_series(team, now),
    ]
    new = drop_known(team, found) if found else []
    people = User.objects.in_bulk({user_id for user_id, _ in new})
    for user_id, note in new:
        with transaction.atomic():
            notify_person(team, people[user_id], note)


def find_ended_videos(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    """Videos that members made in the portal, or imported while they were rendered; those of a
    script are the script's to watch, and those of a batch are told once, with its end."""
    states = (JobState.COMPLETED, JobState.FAILED)
    jobs = Job.objects.videos().visible().filter(tenant=team.tenant_id, state__in=states)
    jobs = jobs.filter(batch_row=None, earlier_batch_rows=None)
    # An imported one that no poll has seen running was finished when it was imported.
    followed = Q(origin=JobOrigin.PORTAL) | Q(origin=JobOrigin.IMPORT, polled_at__isnull=False)
    jobs = jobs.filter(followed, finished_at__gt=now - VIDEO_MAX_AGE)
    for job in jobs.order_by("-finished_at")[:MAX_VIDEOS_PER_RUN]:
        is_done = job.state == JobState.COMPLETED
        ended_at = job.finished_at.isoformat() if job.finished_at else ""
        yield (
            job.member_id,
            Notification(
                kind=NotificationKind.VIDEO_DONE if is_done else NotificationKind.VIDEO_FAILED,
                subject=str(job.pk),
                period=ended_at,
                state="completed" if is_done else "failed",
                title=f"“{job.title}” {'is done' if is_done else 'failed'}",
                text=VIDEO_READY if is_done else failure_reason(job.failure_message),
                url=job_page_url(job),
            ),
        )


def find_answered_requests(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    """Requests that somebody else decided, or that ended as outdated."""
    rows = ApprovalRequest.objects.filter(team=team, decided_at__gt=now - ANSWER_MAX_AGE)
    rows = rows.exclude(decision=ApprovalDecision.WITHDRAWN)
    for approval in rows.select_related("decided_by", "charge__job"):
        yield approval.member_id, build_answer_notification(approval)


def build_answer_notification(approval: ApprovalRequest) -> Notification:
    """`approval` is decided."""
    decider = approval.decided_by.first_name if approval.decided_by else "Someone"
    amount, title = f"{credits(approval.charge.hold)} cr", request_title(approval)
    state, head, text = {
        ApprovalDecision.APPROVED: ("good", f"{decider} approved {amount}", f"{title} is sent."),
        ApprovalDecision.DECLINED: (
            "failed",
            f"{decider} declined {amount}",
            f"{title}: “{approval.answer}”",
        ),
    }.get(
        ApprovalDecision(approval.decision),
        ("paused", f"{amount} were not sent", f"{title}: {approval.answer}"),
    )
    return Notification(
        kind=NotificationKind.REQUEST_ANSWERED,
        subject=str(approval.pk),
        period="answer",
        state=state,
        title=head,
        text=text[:1].upper() + text[1:],
        url=approval_page_url(approval),
    )


def find_stopped_tokens(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    tokens = Token.objects.filter(tenant=team.tenant_id, state=TokenState.REVOKED)
    for token in tokens.filter(state_since__gt=now - ANSWER_MAX_AGE):
        yield (
            token.owner_id,
            Notification(
                kind=NotificationKind.TOKEN_STOPPED,
                subject=str(token.pk),
                period=token.state_since.isoformat(),
                state="failed",
                title=STOPPED_TITLE.format(last_four=token.last_four),
                text=REFUSED_BY_SERVICE,
                url=reverse("tokens"),
            ),
        )


def find_ended_plans(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    """Renders that were to start after the script and did not."""
    plans = PlannedRender.objects.filter(ended_at__gt=now - ANSWER_MAX_AGE)
    plans = plans.filter(job__tenant=team.tenant_id, job__state=JobState.DRAFT, job__hidden_at=None)
    plans = plans.filter(job__batch_row=None, job__earlier_batch_rows=None)
    for plan in plans.select_related("job"):
        yield (
            plan.member_id,
            Notification(
                kind=NotificationKind.RENDER_NOT_SENT,
                subject=str(plan.job_id),
                period=plan.ended_at.isoformat() if plan.ended_at else "",
                state="late",
                title=f"“{plan.job.title}” was not rendered",
                text=plan.reason,
                url=reverse("studio-draft", args=[plan.job_id]),
            ),
        )


def find_ended_batches(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    """Batches that have ended, or paused by themselves."""
    ended = Q(state=BatchState.FINISHED) | Q(state=BatchState.PAUSED) & ~Q(pause_reason="")
    batches = Batch.objects.filter(ended, team=team, state_since__gt=now - ANSWER_MAX_AGE)
    for batch in batches:
        states = Counter(batch.rows.values_list("state", flat=True))
        done, failed = states[BatchRowState.DONE], states[BatchRowState.FAILED]
        is_finished = batch.state == BatchState.FINISHED
        counted = f"{done} done, {failed} failed."
        yield (
            batch.member_id,
            Notification(
                kind=NotificationKind.BATCH_ENDED,
                subject=str(batch.pk),
                period=batch.state_since.isoformat(),
                state="completed" if is_finished and not failed else "late",
                title=f"The batch “{batch.name}” {'has ended' if is_finished else 'is paused'}",
                text=counted if is_finished else f"{batch.pause_reason} {counted}",
                url=reverse("batch", args=[batch.pk]),
            ),
        )


def find_paused_series(team: Team, now: datetime) -> Iterator[PersonalNotification]:
    """Series that paused by themselves."""
    rows = Series.objects.filter(team=team, paused_at__gt=now - ANSWER_MAX_AGE)
    for series in rows.exclude(pause_reason=""):
        yield (
            series.member_id,
            Notification(
                kind=NotificationKind.SERIES_PAUSED,
                subject=str(series.pk),
                period=series.paused_at.isoformat() if series.paused_at else "",
                state="late",
                title=f"The series “{series.name}” is paused",
                text=series.pause_reason,
                url=reverse("series", args=[series.pk]),
            ),
        )
