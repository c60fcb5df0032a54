"""A job that breaks whoever looks at it is parked after five times, and the others go on (C7)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.db.models import F
from django.utils import timezone

from proxyapi.events import Event, publish
from proxyapi.models import Job
from proxyapi.models.job import PARKED_AFTER

BREATHER = timedelta(seconds=10)
PARKED = (
    "Looking at it broke Reelroom five times in a row, so it stopped looking. It is not failed. "
    "Whoever runs Reelroom finds the cause in the log, and `manage.py look_again` goes on."
)


@contextmanager
def counted(job: Job) -> Iterator[None]:
    """Count what the handling of a job raises, and let it out: the log has to tell it."""
    try:
        yield
    except Exception:
        crashed(job)
        raise


def crashed(job: Job) -> None:
    now = timezone.now()
    row = Job.objects.filter(pk=job.pk)
    row.update(crashes=F("crashes") + 1, next_look_at=now + BREATHER)
    if row.filter(crashes__gte=PARKED_AFTER).update(look_error=PARKED, look_error_since=now):
        publish(job.vault_id, Event.JOB, job.pk)
