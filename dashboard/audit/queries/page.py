"""The audit log's page: the chain's state, and one page of entries."""

from __future__ import annotations

from typing import Any

from dashboard.audit.queries.action_words import ACTIONS_BY_GROUP, GROUP_LABELS
from dashboard.audit.queries.chain_state import load_chain_state
from dashboard.audit.queries.entry_rows import build_groups, count_by_day
from dashboard.audit.queries.filters import (
    OTHER_ACTORS,
    PERIOD_LABELS,
    AuditFilters,
    apply_audit_filters,
)
from dashboard.audit.queries.things import load_thing_names
from dashboard.models import Membership
from dashboard.shared.access import audit_entries, has_permission
from dashboard.shared.audit_log import MONEY_AUDIT_ACTIONS
from dashboard.shared.lists import load_list
from dashboard.shared.people import TeamPerson, load_team_people
from dashboard.shared.roles import Permission

AUDIT_PAGE_SIZE = 50


def load_audit_page(reader: Membership, filters: AuditFilters) -> dict[str, Any]:
    """At most seven queries. Raises `Http404` for a role without the permission. `chain` is None
    for a reader who sees only the entries about money."""
    entries, tenant = audit_entries(reader), reader.team.tenant
    people, sees_all = load_team_people(reader.team), has_permission(reader, Permission.OPERATE)
    matching = apply_audit_filters(entries, filters, tenant, people)
    options = chip_options(filters, people, is_money_only=not sees_all)
    page = load_list(filters, matching, AUDIT_PAGE_SIZE, **options)
    names = load_thing_names(page.rows, tenant, people)
    chain = load_chain_state(reader.team_id)
    verified = chain.verified if sees_all else page.rows[0].position if page.rows else 0
    counts = count_by_day(matching, page.rows)
    export_url = filters.url("audit-export")
    return {
        "list": page,
        "groups": list(build_groups(page.rows, names, counts, verified, chain.broken)),
        "chain": chain if sees_all else None,
        "period": PERIOD_LABELS[filters.period],
        "refresh_url": add_param(page.url, "part=entries"),
        "csv_url": export_url,
        "json_url": add_param(export_url, "format=jsonl"),
        "zone": tenant.zone.key.replace("_", " "),
    }


def add_param(url: str, param: str) -> str:
    return f"{url}{'&' if '?' in url else '?'}{param}"


def chip_options(
    filters: AuditFilters, people: tuple[TeamPerson, ...], *, is_money_only: bool
) -> dict[str, Any]:
    """Return the actors and the groups of actions that the reader may see."""
    actors = {str(person.id): person.name for person in people}
    actors |= {value: label for value, (_, label) in OTHER_ACTORS.items()}
    if is_money_only:
        del actors["unknown"]
    if filters.who:
        actors.setdefault(filters.who, "a former member")
    groups = {
        value: label
        for value, label in GROUP_LABELS.items()
        if not is_money_only or not value or ACTIONS_BY_GROUP[value] & MONEY_AUDIT_ACTIONS
    }
    # One group alone is no choice.
    is_choice = len(groups) > 2 or filters.what in groups
    return {"who": actors, "what": groups if is_choice else None}
