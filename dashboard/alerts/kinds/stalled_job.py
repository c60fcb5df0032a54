"""Jobs that no longer move: much older than others became, or without another status for long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from dashboard.alerts.declaration import AlertFinding, AlertKindSpec
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.videos.status_text import stalled_job_text
from proxyapi.models import Job

MAX_TITLE_LENGTH = 100  # characters of a title in an alert


def find_stalled_jobs(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Each once in a run, also if somebody checked it again meanwhile."""
    for job in Job.objects.visible().stalled().filter(tenant=team.tenant_id):
        yield AlertFinding(
            rules[0],
            str(job.pk),
            f"“{job.title[:MAX_TITLE_LENGTH]}” no longer moves",
            stalled_job_text(job, now),
            "late",
            job_page_url(job),
            f"run {job.started_at:%Y-%m-%d %H:%M:%S}" if job.started_at else "",
            member=job.member_id,
        )


SPEC = AlertKindSpec(
    kind=AlertKind.STALLED_JOB,
    sentence="A video, voice or character no longer moves",
    find=find_stalled_jobs,
    open_subjects=lambda: Job.objects.stalled().values_list("pk", flat=True),
)
