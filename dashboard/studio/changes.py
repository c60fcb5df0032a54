"""The fragment of changed drafts in a push: their price cards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.shared.videos.labels import is_made_in_studio
from dashboard.studio.queries.price import build_draft_price
from proxyapi.models import Job, JobState, Tenant

CHANGES_TEMPLATE = "studio/_changes.html"


def changed_drafts_context(_tenant: Tenant, jobs: Sequence[Job]) -> Mapping[str, object]:
    """Return `prices` for the template; two queries per draft."""
    drafts = [job for job in jobs if job.state == JobState.DRAFT and is_made_in_studio(job)]
    return {"prices": [build_draft_price(job) for job in drafts]}
