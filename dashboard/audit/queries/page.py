"""The audit log's page: the chain's state, filter chips, one page of entries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from dashboard.audit.queries.action_words import ACTIONS_BY_GROUP, GROUP_LABELS
from dashboard.audit.queries.chain_state import ChainState, load_chain_state
from dashboard.audit.queries.entry_rows import AuditGroup, build_groups, count_by_day
from dashboard.audit.queries.filters import (
    OTHER_ACTORS,
    PERIOD_LABELS,
    SOURCE_LABELS,
    AuditFilters,
    apply_audit_filters,
)
from dashboard.audit.queries.things import load_thing_names
from dashboard.models import AuditEvent, Membership
from dashboard.shared.access import audit_entries, has_permission
from dashboard.shared.audit_log import MONEY_AUDIT_ACTIONS
from dashboard.shared.filter_chips import (
    FilterChip,
    FilterSheet,
    build_filter_chip,
    build_filter_sheet,
    build_hidden_params,
)
from dashboard.shared.people import TeamPerson, load_team_people
from dashboard.shared.roles import Permission

AUDIT_PAGE_SIZE = 50
MAX_COUNT = 10_000  # a larger number of matching entries is not counted


@dataclass(frozen=True, slots=True)
class AuditPage:
    """`chain` is None for a reader who sees only the entries about money. `first_url` and
    `older_url` are empty at the ends."""

    filters: AuditFilters
    chips: tuple[FilterChip, ...]
    sheet: FilterSheet
    hidden_params: tuple[tuple[str, str], ...]
    chain: ChainState | None
    groups: tuple[AuditGroup, ...]
    count_text: str
    url: str
    clear_url: str
    first_url: str
    older_url: str
    csv_url: str
    json_url: str
    zone: str


def build_audit_page(reader: Membership, filters: AuditFilters) -> AuditPage:
    """At most seven queries. Raises `Http404` for a role without the permission."""
    entries, tenant = audit_entries(reader), reader.team.tenant
    people = load_team_people(reader.team)
    matching = apply_audit_filters(entries, filters, tenant, people)
    events = load_page_events(matching, filters)
    shown = events[:AUDIT_PAGE_SIZE]
    chain, sees_all = load_chain_state(reader.team_id), has_permission(reader, Permission.OPERATE)
    names = load_thing_names(shown, tenant, people)
    verified = chain.verified if sees_all else shown[0].position if shown else 0
    chips = tuple(iter_audit_chips(filters, people, is_money_only=not sees_all))
    return AuditPage(
        filters=filters,
        chips=chips,
        sheet=build_filter_sheet(AuditFilters().url(), chips, filters),
        hidden_params=build_hidden_params(filters, "q", *(chip.name for chip in chips)),
        chain=chain if sees_all else None,
        groups=tuple(
            build_groups(shown, names, count_by_day(matching, shown), verified, chain.broken)
        ),
        count_text=count_text(matching, filters),
        url=add_param(filters.url(before=filters.before), "part=entries"),
        clear_url=AuditFilters(period=filters.period).url(),
        first_url=filters.url() if filters.before else "",
        older_url=filters.url(before=shown[-1].position) if len(events) > len(shown) else "",
        csv_url=filters.url("audit-export"),
        json_url=add_param(filters.url("audit-export"), "format=jsonl"),
        zone=tenant.zone.key.replace("_", " "),
    )


def add_param(url: str, param: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{param}"


def load_page_events(matching: QuerySet[AuditEvent], filters: AuditFilters) -> list[AuditEvent]:
    """Return one page of entries and one more if there is another page."""
    if filters.before is not None:
        matching = matching.filter(position__lt=filters.before)
    return list(matching.order_by("-position")[: AUDIT_PAGE_SIZE + 1])


def count_text(matching: QuerySet[AuditEvent], filters: AuditFilters) -> str:
    count = matching.order_by()[: MAX_COUNT + 1].count()
    number = f"more than {MAX_COUNT:,}" if count > MAX_COUNT else f"{count:,}"
    period = PERIOD_LABELS[filters.period]
    where = "" if filters.period == "all" else f" in the {period[0].lower()}{period[1:]}"
    return f"{number}{' today' if filters.period == 'today' else where}, newest first"


def iter_audit_chips(
    filters: AuditFilters, people: Sequence[TeamPerson], *, is_money_only: bool
) -> Iterator[FilterChip]:
    yield build_filter_chip("period", "Period", PERIOD_LABELS, filters, plain=True)
    actors = {str(person.id): person.name for person in people}
    others = {value: label for value, (_, label) in OTHER_ACTORS.items()}
    if is_money_only:
        del others["unknown"]
    who = {"": "everyone", **actors, **others}
    if filters.who and filters.who not in who:
        who[filters.who] = "a former member"
    yield build_filter_chip("who", "Who", who, filters)
    groups = {
        value: label
        for value, label in GROUP_LABELS.items()
        if not is_money_only or not value or ACTIONS_BY_GROUP[value] & MONEY_AUDIT_ACTIONS
    }
    if len(groups) > 2 or filters.what in groups:  # one group alone is no choice
        yield build_filter_chip("what", "What", groups, filters)
    yield build_filter_chip("source", "From", SOURCE_LABELS, filters)
