"""Fetch videos, their parts, labels and versions."""

from __future__ import annotations

from collections.abc import Collection
from uuid import UUID

from django.http import Http404

from dashboard.models import Label, VersionGroup
from dashboard.shared.access.permissions import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.models import Job, JobKind, JobPart, JobState


def fetch_job(request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW) -> Job:
    jobs = Job.objects.visible().filter(tenant=request.team.tenant)
    related = ("member", "account", "token", "draft", "draft_origin", "version", "planned_render")
    job = jobs.select_related(*related, "storyboard_copy__storyboard").filter(pk=job_id).first()
    if job is None:
        raise Http404("This video does not exist in this team.")
    check_permission(request.membership, permission)
    return job


def fetch_clip(request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW) -> Job:
    """Return a clip that was composed here, or its draft."""
    job = fetch_job(request, job_id, permission)
    if job.kind != JobKind.CLIP or job.draft_or_none is None:
        raise Http404("This is no clip that was composed here.")
    return job


def find_clip_draft(request: TeamRequest, job_id: UUID) -> Job | None:
    """Return the draft with the id of a composer to save; None if nothing was saved under it."""
    check_permission(request.membership, Permission.RENDER)
    if not Job.objects.filter(pk=job_id).exists():
        return None
    return fetch_clip(request, job_id, Permission.RENDER)


def fetch_film(request: TeamRequest, job_id: UUID) -> Job:
    """Return a finished video to take a picture or film from, for a new clip."""
    job = fetch_job(request, job_id, Permission.RENDER)
    if job.state != JobState.COMPLETED or not job.media_url:
        raise Http404("This video has no file yet.")
    return job


def fetch_part(
    request: TeamRequest, job_id: UUID, part_id: UUID, permission: Permission = Permission.VIEW
) -> tuple[Job, JobPart]:
    """Return a video and one of its scene images or exports."""
    job = fetch_job(request, job_id, permission)
    part = JobPart.objects.filter(job=job, pk=part_id).first()
    if part is None:
        raise Http404("The service no longer has this part of the video.")
    return job, part


def fetch_selected_jobs(request: TeamRequest, job_ids: Collection[UUID]) -> list[Job]:
    """Return several videos to change, hidden ones too, newest first."""
    jobs = list(
        Job.objects.videos()
        .filter(tenant=request.team.tenant, pk__in=job_ids)
        .select_related("version")
        .order_by("-created_at", "-pk")
    )
    if len(jobs) != len(set(job_ids)):
        raise Http404("One of these videos does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return jobs


def fetch_hidden_job(request: TeamRequest, job_id: UUID) -> Job:
    """Return a video to restore; another member may have restored it already."""
    job = Job.objects.filter(tenant=request.team.tenant, pk=job_id).first()
    if job is None:
        raise Http404("This video does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return job


def fetch_label(request: TeamRequest, label_id: UUID) -> Label:
    """Return a label of the team to change."""
    label = request.team.labels.filter(pk=label_id).first()
    if label is None:
        raise Http404("This label does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return label


def fetch_version_group(
    request: TeamRequest, group_id: UUID, permission: Permission = Permission.VIEW
) -> VersionGroup:
    group = request.team.version_groups.filter(pk=group_id).first()
    if group is None:
        raise Http404("These versions do not exist in this team.")
    check_permission(request.membership, permission)
    return group


def require_team_labels(request: TeamRequest, label_ids: Collection[UUID]) -> None:
    """Raise `Http404` unless all of them are labels of the team."""
    if request.team.labels.filter(pk__in=label_ids).count() != len(set(label_ids)):
        raise Http404("One of these labels does not exist in this team.")
