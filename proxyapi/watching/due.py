"""What is due: rows whose time came, claimed by pushing their time on, so that two ticks take none
twice."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

from django.utils import timezone

from proxyapi.models import Charge, ChargeState, Job

# As long as a look or a settling may take at worst; after that somebody else may try.
LEASE = timedelta(seconds=45)
BATCH = 50


def jobs() -> Iterator[UUID]:
    """Running jobs whose next look is due, each leased to the caller."""
    now = timezone.now()
    for id, due_at in Job.objects.due(now).values_list("pk", "next_look_at")[:BATCH]:
        if Job.objects.filter(pk=id, next_look_at=due_at).update(next_look_at=now + LEASE):
            yield id


def quotes() -> Iterator[UUID]:
    """Drafts whose price was asked and did not come, each leased to the caller."""
    now = timezone.now()
    waiting = Job.objects.filter(quote_due_at__lte=now).values_list("pk", "quote_due_at")
    for id, due_at in waiting[:BATCH]:
        if Job.objects.filter(pk=id, quote_due_at=due_at).update(quote_due_at=now + LEASE):
            yield id


def charges() -> Iterator[tuple[UUID, ChargeState]]:
    """Charges that no doorbell served, each leased to the caller, with the state of finding."""
    now = timezone.now()
    rows = Charge.objects.due(now).values_list("pk", "due_at", "state")[:BATCH]
    for id, due_at, state in rows:
        if Charge.objects.filter(pk=id, due_at=due_at).update(due_at=now + LEASE):
            yield id, ChargeState(state)
