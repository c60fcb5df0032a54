"""Rows of the audit log: one page of entries, in groups of days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from itertools import groupby
from typing import Any

from django.db.models import Count, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from dashboard.audit.queries.action_words import REFUSED_ACTIONS, action_title
from dashboard.audit.queries.field_changes import Names, list_field_changes
from dashboard.audit.queries.things import thing_text
from dashboard.models import AuditActorKind, AuditEvent, AuditSource

ACTOR_ICONS = {
    AuditActorKind.SYSTEM: "server-stack",
    AuditActorKind.API_KEY: "key",
    AuditActorKind.UNKNOWN: "question-mark-circle",
}
COMMAND_ICON = "command-line"


def build_groups(
    events: Sequence[AuditEvent],
    names: Names,
    counts: Mapping[date, int],
    verified: int,
    broken: int | None,
) -> Iterator[dict[str, Any]]:
    """Group newest first: by day, and after position `verified` in a group of their own. `count` is
    that of all pages."""
    unverified = [event for event in events if event.position > verified and broken is None]
    if unverified:
        rows = [build_audit_row(event, names, broken) for event in unverified]
        title = "After the last check"
        yield {"title": title, "is_unverified": True, "count": len(rows), "rows": rows}
    apart = Counter(local_day(event.happened_at) for event in unverified)
    rest = events[len(unverified) :]
    for day, of_day in groupby(rest, key=lambda event: local_day(event.happened_at)):
        rows = [build_audit_row(event, names, broken) for event in of_day]
        count = counts.get(day, len(rows) + apart[day]) - apart[day]
        yield {"title": day_title(day), "is_unverified": False, "count": count, "rows": rows}


def build_audit_row(event: AuditEvent, names: Names, broken: int | None) -> dict[str, Any]:
    """`icon` is empty for a person, who has initials. `change` is the first changed field, `others`
    the number of further ones. `state`: "late" for a refused attempt, "failed" from the first entry
    on that does not match its hash."""
    changes = [change for change in list_field_changes(event, names) if change.is_changed]
    is_command = event.source == AuditSource.COMMAND
    state = "late" if event.action in REFUSED_ACTIONS else ""
    return {
        "event": event,
        "clock": f"{timezone.localtime(event.happened_at):%H:%M}",
        "initials": initials_of(event.actor_name),
        "icon": COMMAND_ICON
        if is_command
        else ACTOR_ICONS.get(AuditActorKind(event.actor_kind), ""),
        "title": action_title(event.action),
        "thing": thing_text(event, names),
        "change": changes[0] if changes else None,
        "others": max(0, len(changes) - 1),
        "state": "failed" if broken is not None and event.position >= broken else state,
    }


def source_text(event: AuditEvent) -> str:
    return str(AuditSource(event.source).label)


def initials_of(name: str) -> str:
    words = name.partition("@")[0].replace(".", " ").split()
    return "".join(word[0] for word in (words[:1] + words[1:][-1:])).upper()


def count_by_day(entries: QuerySet[AuditEvent], shown: Sequence[AuditEvent]) -> dict[date, int]:
    """Return the number of matching entries for each day that the page shows; one query."""
    if not shown:
        return {}
    first, last = midnight_before(shown[-1]), midnight_before(shown[0]) + timedelta(days=1)
    rows = entries.filter(happened_at__gte=first, happened_at__lt=last).order_by()
    days = rows.annotate(day=TruncDate("happened_at")).values_list("day")
    return dict(days.annotate(count=Count("pk")))


def midnight_before(event: AuditEvent) -> datetime:
    local = timezone.localtime(event.happened_at)
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


def local_day(at: datetime) -> date:
    return timezone.localtime(at).date()


def day_title(day: date) -> str:
    today = timezone.localdate()
    year = "" if day.year == today.year else f" {day.year}"
    text = f"{day:%a} {day.day} {day:%b}{year}"
    return f"Today, {text}" if day == today else text
