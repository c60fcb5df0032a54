"""Fetch what videos are made with: voices, characters, ideas, presets."""

from __future__ import annotations

from uuid import UUID

from django.db.models import F
from django.http import Http404

from dashboard.models import Batch, Preset
from dashboard.shared.access.permissions import check_permission
from dashboard.shared.access.videos import fetch_job
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from proxyapi.models import Idea, Job, JobKind, StoredFile

MAX_SELECTED_IDEAS = 100


def fetch_voice(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """Return a voice that the team cloned, or is about to."""
    job = fetch_job(request, job_id, permission)
    if job.kind != JobKind.CLONE:
        raise Http404("This voice does not exist in this team.")
    return job


def fetch_sample(request: TeamRequest, job_id: UUID, file_id: UUID) -> StoredFile:
    """Return a sample of a voice that waits to be sent, for those who may send it."""
    job = fetch_voice(request, job_id, Permission.RENDER)
    file = job.stored_files.filter(pk=file_id).first()
    if file is None:
        raise Http404("This sample is not kept any more.")
    return file


def fetch_character(
    request: TeamRequest, job_id: UUID, permission: Permission = Permission.VIEW
) -> Job:
    """Return a character, with the record of its photo."""
    jobs = Job.objects.visible().filter(tenant=request.team.tenant, kind=JobKind.CHARACTER)
    related = ("member", "account", "token", "draft", "character_photo__confirmed_by")
    job = jobs.select_related(*related).filter(pk=job_id).first()
    if job is None:
        raise Http404("This character does not exist in this team.")
    check_permission(request.membership, permission)
    return job


def fetch_ideas(request: TeamRequest) -> list[Idea]:
    """Return the posted ideas, to make drafts of, the highest volume first."""
    texts = set(request.POST.getlist("idea"))
    ids = [id for text in texts if (id := parse_uuid(text))]
    ideas = Idea.objects.filter(account__tenant=request.team.tenant_id, pk__in=ids)
    rows = list(ideas.order_by(F("volume").desc(nulls_last=True), "pk")[:MAX_SELECTED_IDEAS])
    if len(rows) != len(texts):
        raise Http404("One of these ideas does not exist in this team.")
    check_permission(request.membership, Permission.RENDER)
    return rows


def fetch_preset(
    request: TeamRequest, preset_id: UUID, permission: Permission = Permission.VIEW
) -> Preset:
    preset = request.team.presets.select_related("created_by", "team").filter(pk=preset_id).first()
    if preset is None:
        raise Http404("This preset does not exist in this team.")
    check_permission(request.membership, permission)
    return preset


def fetch_batch(
    request: TeamRequest, batch_id: UUID, permission: Permission = Permission.VIEW
) -> Batch:
    related = ("member", "preset", "team__tenant", "label")
    batch = request.team.batches.select_related(*related).filter(pk=batch_id).first()
    if batch is None:
        raise Http404("This batch does not exist in this team.")
    check_permission(request.membership, permission)
    return batch
