"""The page of a job by its kind: a video's in the library, others have pages of their own."""

from __future__ import annotations

from collections.abc import Mapping

from django.urls import reverse

from proxyapi.models import Job, JobKind

JOB_PAGE_NAMES: Mapping[str, str] = {JobKind.CLONE: "voice", JobKind.CHARACTER: "character"}
VIDEO_PAGE_NAME = "video"


def job_page_url(job: Job | None) -> str:
    """Return the URL of the job's page; empty without a job, or if it is hidden."""
    if job is None or job.hidden_at is not None:
        return ""
    return reverse(JOB_PAGE_NAMES.get(job.kind, VIDEO_PAGE_NAME), args=[job.pk])
