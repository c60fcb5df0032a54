"""The state of videos as SQL computes it: the tabs of the library, and the filter of clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict
from uuid import UUID

from django.db.models import Case, Q, QuerySet, Value, When

from proxyapi.models import Charge, ChargeState, Job, JobState
from proxyapi.operations import SIDE_OPERATIONS

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class TabAnnotations(TypedDict):
        """The columns that `annotate_tabs` adds to a job."""

        shelf: str
        rank: int

    JobWithTab = WithAnnotations[Job, TabAnnotations]

HIDDEN_TAB = "hidden"
ACTIVE_TABS = ("rendering", "unknown", "waiting")


def annotate_tabs(jobs: QuerySet[Job], tenant_id: UUID) -> QuerySet[JobWithTab]:
    """Annotate each job of the tenant with its tab: the states of `display_state`, as far as SQL
    can compute them."""

    def charging(state: ChargeState) -> Q:
        # Not correlated, and one state each: few charges are open, and SQLite finds those of a
        # state by an index, once, instead of the charges of each job.
        charges = Charge.objects.filter(tenant=tenant_id, state=state, job__isnull=False)
        if state == ChargeState.UNKNOWN:
            charges = charges.filter(applied_at=None)  # else it was done and waits for its cost
        return Q(pk__in=charges.exclude(operation__in=SIDE_OPERATIONS).values("job"))

    tab = Case(
        When(hidden_at__isnull=False, then=Value(HIDDEN_TAB)),
        When(charging(ChargeState.UNKNOWN), then=Value("unknown")),
        When(charging(ChargeState.SENDING), then=Value("rendering")),
        When(charging(ChargeState.HELD) | charging(ChargeState.DRAFT), then=Value("waiting")),
        When(state=JobState.RUNNING, then=Value("rendering")),
        When(state=JobState.COMPLETED, then=Value("completed")),
        When(state=JobState.FAILED, then=Value("failed")),
        default=Value("drafts"),
    )
    annotated = jobs.annotate(shelf=tab)
    return annotated.annotate(
        rank=Case(When(shelf__in=ACTIVE_TABS, then=Value(0)), default=Value(1))
    )
