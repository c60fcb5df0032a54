"""The fragment of changed drafts of clips in a push: a page fetches what it shows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proxyapi.models import Job, JobKind, JobState, Tenant

CLIP_CHANGES_TEMPLATE = "clips/_changes.html"


def changed_clip_drafts_context(_tenant: Tenant, jobs: Sequence[Job]) -> Mapping[str, object]:
    """Return `clip_draft_ids` for the template; no query."""
    drafts = [job for job in jobs if job.kind == JobKind.CLIP and job.state == JobState.DRAFT]
    return {"clip_draft_ids": [job.pk for job in drafts]}
