"""The fragments of changed scenes and exports in a push: places that each page fills for its own
reader, because the buttons depend on the role."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.shared.storyboards.copies import select_videos
from proxyapi.models import Job, Tenant

PART_CHANGES_TEMPLATE = "parts/_changes.html"


def changed_parts_context(tenant: Tenant, jobs: Sequence[Job]) -> Mapping[str, object]:
    """Return `part_job_ids` for the template; no query."""
    return {"part_job_ids": [job.pk for job in select_videos(jobs)]}
