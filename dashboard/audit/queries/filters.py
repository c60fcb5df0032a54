"""The filters of the audit log, parsed from its URL and applied to its entries."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from django.db.models import Q, QuerySet

from dashboard.audit.queries.action_words import ACTIONS_BY_GROUP, GROUP_LABELS
from dashboard.models import AuditActorKind, AuditEvent, AuditSource
from dashboard.shared import query_params
from dashboard.shared.people import TeamPerson
from proxyapi.models import Job, Tenant

PERIOD_DAYS = {"today": 0, "7": 7, "": 30, "90": 90}  # days before today
PERIOD_LABELS = {
    "today": "Today",
    "7": "Last 7 days",
    "": "Last 30 days",
    "90": "Last 90 days",
    "all": "Everything",
}
SOURCE_LABELS = {"": "anywhere", **{str(value): str(label) for value, label in AuditSource.choices}}
OTHER_ACTORS = {
    "reelroom": (AuditActorKind.SYSTEM, "Reelroom"),
    "unknown": (AuditActorKind.UNKNOWN, "Not signed in"),
}
MAX_FOUND_JOBS = 200  # videos whose title matches a search


def parse_actor(text: str) -> str:
    is_person = query_params.parse_small_int(text) is not None
    return text if is_person else query_params.allowed_or_empty(text, OTHER_ACTORS)


@dataclass(frozen=True, slots=True)
class AuditFilters(query_params.PageFilters):
    """`who` is the id of a user or a key of `OTHER_ACTORS`."""

    PAGE: ClassVar[str] = "audit"
    CURSOR: ClassVar[str] = "before"
    ID: ClassVar[str] = "audit"
    KEPT: ClassVar[tuple[str, ...]] = ("period",)

    search: str = query_params.search_field()
    who: str = query_params.param_field(parse_actor, label="Who", unset="everyone")
    what: str = query_params.choice_field(GROUP_LABELS, "What")
    source: str = query_params.choice_field(SOURCE_LABELS, "From", lookup="source")
    period: str = query_params.choice_field(PERIOD_LABELS, "Period", plain=True, narrows=False)
    before: query_params.Cursor | None = query_params.cursor_field(int)


def apply_audit_filters(
    entries: QuerySet[AuditEvent],
    filters: AuditFilters,
    tenant: Tenant,
    people: tuple[TeamPerson, ...],
) -> QuerySet[AuditEvent]:
    """Return the entries of all pages that match; one query of titles if there is a search text."""
    entries = filters.narrow(entries)
    if filters.period in PERIOD_DAYS:
        first = query_params.start_of_day(PERIOD_DAYS[filters.period], tenant.zone)
        entries = entries.filter(happened_at__gte=first)
    if filters.who in OTHER_ACTORS:
        entries = entries.filter(actor_id="", actor_kind=OTHER_ACTORS[filters.who][0])
    elif filters.who:
        entries = entries.filter(actor_id=filters.who)
    if filters.what:
        entries = entries.filter(action__in=ACTIONS_BY_GROUP[filters.what])
    return entries.order_by("-position").filter(search_condition(filters.search, tenant, people))


def search_condition(text: str, tenant: Tenant, people: tuple[TeamPerson, ...]) -> Q:
    """Match a person, a thing, an address or the number of an entry."""
    if not text:
        return Q()
    titles = Job.objects.filter(tenant=tenant, title__icontains=text).order_by("-created_at")
    jobs = [str(pk) for pk in titles.values_list("pk", flat=True)[:MAX_FOUND_JOBS]]
    users = [str(person.id) for person in people if text.casefold() in person.name.casefold()]
    condition = Q(actor_name__icontains=text) | Q(client_ip__startswith=text)
    condition |= Q(target__icontains=text) | Q(target__in=jobs) | Q(after__job__in=jobs)
    condition |= Q(action__startswith="member.", target__in=users)
    for name in ("before", "after", "details"):
        condition |= Q(**{f"{name}__icontains": text})
    with suppress(ValueError):
        condition |= Q(position=query_params.parse_position(text.replace(",", "").lstrip("#")))
    return condition
