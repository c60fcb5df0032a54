"""What was changed about budgets and decided about asks, out of the audit rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from dashboard.access import can
from dashboard.models import AuditEvent, Membership, Period
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import credits

MOST = 12
BUDGET = ("budget.add", "budget.change", "budget.end")
ASK = ("ask.approved", "ask.declined", "ask.stale")
EACH = {Period.DAY: "a day", Period.WEEK: "a week", Period.MONTH: "a month"}


@dataclass(frozen=True, slots=True)
class Change:
    """`state` chooses the glyph; `text` has no name in front: `who` is it."""

    state: str
    who: str
    text: str
    quote: str
    happened_at: datetime


def history_of(reader: Membership) -> tuple[Change, ...]:
    """The newest, for those who decide; one query."""
    if not can(reader, Permission.MANAGE_MONEY):
        return ()
    rows = AuditEvent.objects.filter(team=reader.team, action__in=(*BUDGET, *ASK))
    rows = rows.select_related("actor").order_by("-happened_at", "-pk")[:MOST]
    return tuple(change_of(row) for row in rows)


def change_of(row: AuditEvent) -> Change:
    told = of_budget(row.action, row.details) if row.action in BUDGET else of_ask(row)
    state, text = told
    quote = str(row.details.get("answer") or "") if row.action == "ask.declined" else ""
    return Change(state, row.actor.first_name, text, quote, row.happened_at)


def of_budget(action: str, details: dict[str, Any]) -> tuple[str, str]:
    """ "gave Priya Raman 2,500 cr a month, warned at 2,000"."""
    whose = details.get("member") or "the whole team"
    each = EACH[Period(details.get("period", Period.MONTH))]
    before, after = (in_words(details.get(side) or {}) for side in ("before", "after"))
    match action:
        case "budget.add":
            return "completed", f"limited {whose} {each}: {after}."
        case "budget.change":
            return "completed", f"changed {whose}’s limits {each}: {after} instead of {before}."
    return "paused", f"ended {whose}’s budget {each}, {before}."


def in_words(limits: dict[str, str]) -> str:
    words = {"hard": "{} cr at most", "soft": "an alert at {}"}
    found = [words[name].format(credits(Decimal(limits[name]))) for name in words if name in limits]
    return " and ".join(found) or "none"


def of_ask(row: AuditEvent) -> tuple[str, str]:
    who, hold = row.details.get("member") or "A member", credits(row.details.get("hold"))
    match row.action:
        case "ask.approved":
            return "completed", f"approved {hold} cr for {who}."
        case "ask.declined":
            return "failed", f"declined {hold} cr for {who}:"
    return "paused", f"could not send {hold} cr for {who}: it had changed meanwhile."
