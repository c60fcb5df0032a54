"""The fragments of changed videos in a push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.db.models import prefetch_related_objects
from django.utils import timezone

from dashboard.library.queries.video_page import build_video_page
from dashboard.shared.storyboards.copies import select_videos
from dashboard.shared.videos.cards import build_video_context
from proxyapi.models import Job, Tenant
from proxyapi.polling.duration_history import DurationHistory

CHANGES_TEMPLATE = "library/_changes.html"


def changed_videos_context(tenant: Tenant, jobs: Sequence[Job]) -> Mapping[str, object]:
    """Return `videos` for the template; two queries."""
    jobs = select_videos(jobs)
    prefetch_related_objects(jobs, "parts")
    usual, now = DurationHistory(tenant_id=tenant.pk), timezone.now()
    pages = [build_video_page(build_video_context(job, usual, now), usual) for job in jobs]
    return {"videos": pages}
