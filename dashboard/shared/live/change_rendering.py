"""Render the fragments that show what changed, once for the whole team.

They contain only data that every member may see; fragments that depend on the reader are fetched by
the page in the reader's own session. Areas register the fragments that show their jobs
(`DashboardConfig.ready`); the shell's counts and balance are added here.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from uuid import UUID

from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.utils import timezone

from dashboard.shared.charge_stop import build_charge_stop_notice
from dashboard.shared.service_status import load_service_availability
from dashboard.shared.team_balance import load_balance_and_counts
from dashboard.shared.videos.cards import with_card_relations
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import Job, JobState, Tenant

MAX_VIDEOS_PER_PUSH = 48

ChangeContext = Callable[[Tenant, Sequence[Job]], Mapping[str, object]]
EVENTS_WITHOUT_FRAGMENTS = frozenset({EventType.AUDIT})
CHANGE_FRAGMENTS: dict[str, ChangeContext] = {}  # by template, in the order of registration


class TooManyChanges(Exception):
    """More videos changed than a push may contain; pages must reload their parts."""


def register_change_fragments(template: str, build_context: ChangeContext) -> None:
    """Render `template` into each push, with the context that `build_context` returns for changed
    jobs."""
    CHANGE_FRAGMENTS[template] = build_context


def render_tenant_changes(tenant_id: UUID, changes: Collection[ChangeEvent]) -> str:
    """Return the HTML of everything that these events change. Nine queries, and two per draft.

    No query for events that change no fragment; pages refetch such parts. Raises `TooManyChanges`.
    """
    if all(change.event_type in EVENTS_WITHOUT_FRAGMENTS for change in changes):
        return ""
    tenant = Tenant.objects.get(pk=tenant_id)
    with timezone.override(tenant.zone):
        return render_changes(tenant, changes)


def render_changes(tenant: Tenant, changes: Collection[ChangeEvent]) -> str:
    jobs = list(with_card_relations(changed_jobs(tenant.pk, changes)))
    if len(jobs) > MAX_VIDEOS_PER_PUSH:
        raise TooManyChanges
    team_balance, counts = load_balance_and_counts(tenant)
    context: dict[str, object] = {
        "fragments": tuple(CHANGE_FRAGMENTS),
        "team_balance": team_balance,
        "counts": counts,
        "service": load_service_availability(tenant),
        "charge_stop": build_charge_stop_notice(tenant),
    }
    for build_context in CHANGE_FRAGMENTS.values():
        context |= build_context(tenant, jobs)
    return render_to_string("live/changes.html", context)


def changed_jobs(tenant_id: UUID, changes: Collection[ChangeEvent]) -> QuerySet[Job]:
    ids: dict[EventType, set[UUID]] = {event_type: set() for event_type in EventType}
    for change in changes:
        ids[change.event_type].add(change.id)
    touched = Q(pk__in=ids[EventType.JOB]) | Q(charges__in=ids[EventType.CHARGE])
    # A token that stops or works again changes the displayed state of its running jobs.
    touched |= Q(token__in=ids[EventType.TOKEN], state=JobState.RUNNING)
    return (
        Job.objects.visible()
        .filter(touched, tenant_id=tenant_id)
        .distinct()[: MAX_VIDEOS_PER_PUSH + 1]
    )
