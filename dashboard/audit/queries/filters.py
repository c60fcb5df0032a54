"""The filters of the audit log, parsed from its URL and applied to its entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from django.db.models import Q, QuerySet
from django.utils import timezone

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
MAX_POSITION_DIGITS = 18


@dataclass(frozen=True, slots=True)
class AuditFilters(query_params.PageFilters):
    """`who` is the id of a user or a key of `OTHER_ACTORS`; `before` is the position of the last
    entry of the page before."""

    PAGE: ClassVar[str] = "audit"
    CURSOR: ClassVar[str] = "before"

    search: str = ""
    who: str = ""
    what: str = ""
    source: str = ""
    period: str = ""
    before: int | None = None

    @property
    def is_narrowed(self) -> bool:
        return any((self.search, self.who, self.what, self.source))


def parse_audit_filters(query: Mapping[str, str]) -> AuditFilters:
    who = query.get("who", "")
    is_person = query_params.parse_small_int(who) is not None
    return AuditFilters(
        search=query_params.parse_search_text(query),
        who=who if is_person else query_params.allowed_or_empty(who, OTHER_ACTORS),
        what=query_params.allowed_or_empty(query.get("what", ""), GROUP_LABELS),
        source=query_params.allowed_or_empty(query.get("source", ""), SOURCE_LABELS),
        period=query_params.allowed_or_empty(query.get("period", ""), PERIOD_LABELS),
        before=parse_position(query.get("before", "")),
    )


def parse_position(text: str) -> int | None:
    is_number = text.isascii() and text.isdigit() and len(text) <= MAX_POSITION_DIGITS
    return int(text) if is_number else None


def apply_audit_filters(
    entries: QuerySet[AuditEvent],
    filters: AuditFilters,
    tenant: Tenant,
    people: tuple[TeamPerson, ...],
) -> QuerySet[AuditEvent]:
    """Return the entries of all pages that match; one query of titles if there is a search text."""
    if (first := period_start(filters.period, tenant)) is not None:
        entries = entries.filter(happened_at__gte=first)
    if filters.who in OTHER_ACTORS:
        entries = entries.filter(actor_id="", actor_kind=OTHER_ACTORS[filters.who][0])
    elif filters.who:
        entries = entries.filter(actor_id=filters.who)
    if filters.what:
        entries = entries.filter(action__in=ACTIONS_BY_GROUP[filters.what])
    if filters.source:
        entries = entries.filter(source=filters.source)
    return entries.filter(search_condition(filters.search, tenant, people))


def period_start(period: str, tenant: Tenant) -> datetime | None:
    """Return the first moment of the period in the team's time zone; None for everything."""
    if period not in PERIOD_DAYS:
        return None
    midnight = timezone.localtime(timezone=tenant.zone).replace(
        hour=0, minute=0, second=0, microsecond=0
    )
    return midnight - timedelta(days=PERIOD_DAYS[period])


def search_condition(text: str, tenant: Tenant, people: tuple[TeamPerson, ...]) -> Q:
    """Match a person, a thing, an address or the number of an entry."""
    if not text:
        return Q()
    number = parse_position(text.replace(",", "").removeprefix("#"))
    titles = Job.objects.filter(tenant=tenant, title__icontains=text).order_by("-created_at")
    jobs = [str(pk) for pk in titles.values_list("pk", flat=True)[:MAX_FOUND_JOBS]]
    users = [str(person.id) for person in people if text.casefold() in person.name.casefold()]
    condition = Q(actor_name__icontains=text) | Q(client_ip__startswith=text)
    condition |= Q(target__icontains=text) | Q(target__in=jobs) | Q(after__job__in=jobs)
    condition |= Q(action__startswith="member.", target__in=users)
    for name in ("before", "after", "details"):
        condition |= Q(**{f"{name}__icontains": text})
    return condition if number is None else condition | Q(position=number)
