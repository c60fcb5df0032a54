"""Searches that run, are unknown, or ended lately, each with its sentence and what can be done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import quantiles
from typing import TYPE_CHECKING, Any, TypedDict

from django.db.models import Count
from django.utils import timezone

from dashboard.ideas.queries.filters import IdeaFilters, team_ideas
from dashboard.ideas.queries.networks import network_label
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.roles import Permission
from dashboard.shared.videos.charge_status import (
    is_answer_checked,
    lost_answer_outcome,
    open_charge_texts,
)
from dashboard.shared.videos.cost import charge_amount
from dashboard.shared.videos.labels import duration_range_text
from dashboard.shared.videos.progress import seconds_until
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import IDEA_SEARCH_OPERATION

if TYPE_CHECKING:
    from django_stubs_ext import WithAnnotations

    class SearchAnnotations(TypedDict):
        new_count: int

    Search = WithAnnotations[Charge, SearchAnnotations]

SEARCH_LIMIT_S = 120.0  # the scale of a bar: "up to about 2 minutes, synchronous" (spec, Limits)
SHOWN_FOR, MAX_ENDED_SHOWN = timedelta(hours=1), 4
EARLIER_FOR = timedelta(hours=24)
MAX_SEARCHES = 40
MIN_HISTORY = 4  # searches; with fewer there is no usual duration
NOT_FOUND_STATUS = 404
UNKNOWN_TEXT = (
    "Sent {since} by {who}, no answer received. It may have cost {price} cr. Look at what you own "
    "first; it will not be sent again by itself. {outcome}"
)
FOUND_NOTHING = "It found nothing and was free."


@dataclass(frozen=True, slots=True)
class SearchBar:
    """Percent of two minutes; `usual_width` is 0 without history. `elapsed` is in seconds."""

    elapsed: float
    fill: float
    usual_start: float
    usual_width: float
    note: str
    end_s: int = round(SEARCH_LIMIT_S)

    @property
    def sentence(self) -> str:
        return f"{duration(self.elapsed)}, {self.note}"


def load_searches(reader: Membership) -> dict[str, Any]:
    """One query; a second one for a team that has never searched: `is_empty`, if it owns nothing
    either."""
    now, searches = timezone.now(), team_searches(reader)
    usual, may_refresh = usual_duration(searches), has_permission(reader, Permission.RECHECK)
    ended = [search for search in searches if ended_lately(search, now)][:MAX_ENDED_SHOWN]
    shown = [search for search in searches if search.is_open or search in ended]
    earlier = [
        search
        for search in searches
        if search not in shown and now - search.created_at < EARLIER_FOR
    ]
    return {
        "shown": [build_search_row(one, usual, now, may_refresh=may_refresh) for one in shown],
        "earlier": [build_search_row(one, usual, now, may_refresh=may_refresh) for one in earlier],
        "note": count_note(shown),
        "earlier_text": earlier_note(earlier),
        "is_empty": not searches and not team_ideas(reader).exists(),
    }


def team_searches(reader: Membership) -> list[Search]:
    """Return the newest searches of the team, without what they found."""
    rows = Charge.objects.filter(tenant=reader.team.tenant_id, job=None)
    rows = rows.filter(operation=IDEA_SEARCH_OPERATION).select_related("member", "account")
    rows = rows.defer("result", "before", "account__options", "account__clip_models")
    counted = rows.annotate(new_count=Count("ideas")).order_by("-created_at")
    found: list[Search] = list(counted[:MAX_SEARCHES])  # type: ignore[arg-type]
    return found


def ended_lately(search: Charge, now: datetime) -> bool:
    return not search.is_open and now - (search.settled_at or search.created_at) < SHOWN_FOR


def usual_duration(searches: Iterable[Charge]) -> tuple[float, float] | None:
    """Return within how many seconds most searches of this team were answered, from the tenth to
    the ninetieth of a hundred; None with less than four."""
    taken = [
        (search.settled_at - search.sent_at).total_seconds()
        for search in searches
        if search.state == ChargeState.CONFIRMED and search.settled_at and search.sent_at
    ]
    if len(taken) < MIN_HISTORY:
        return None
    tenths = quantiles(taken, n=10, method="inclusive")
    return tenths[0], tenths[-1]


def build_search_row(
    search: Search, usual: tuple[float, float] | None, now: datetime, *, may_refresh: bool
) -> dict[str, Any]:
    """`found_url` leads to what it found; `owned_url`, of an unknown search, to what the team owns
    of the same words, which is read again first if the reader may have that done."""
    is_unknown = search.state == ChargeState.UNKNOWN
    glyph, text = describe_search(search, now)
    keyword, network = search_words(search)
    url = IdeaFilters(keyword=keyword).url()
    return {
        "id": search.pk,
        "keyword": keyword,
        "network": network_label(network),
        "glyph": glyph,
        "text": text,
        "amount": charge_amount(search) if search.is_open else None,
        "amount_note": {"held": "held", "unknown": "unknown", "about": "requested"}.get(
            charge_amount(search).kind, ""
        ),
        "bar": build_bar(search, usual, now) if is_running(search) else None,
        "next_check_s": seconds_until(search.due_at, now) if is_unknown else None,
        "found_url": url if search.new_count and not is_unknown else "",
        "owned_url": url if is_unknown else "",
        "owned_label": "Look at the ideas you own" if may_refresh else "Show the ideas you own",
        "may_refresh": is_unknown and may_refresh,
    }


def is_running(search: Charge) -> bool:
    """True if it was sent, or is sent next and waits for nothing."""
    is_next = search.state == ChargeState.HELD and not search.reason
    return search.state == ChargeState.SENDING or is_next


def search_words(search: Charge) -> tuple[str, str]:
    return tuple(str(search.body.get(name, "")) for name in ("keyword", "network"))  # type: ignore[return-value]


def describe_search(search: Search, now: datetime) -> tuple[str, str]:
    """Return the glyph and the sentence of a search."""
    who, since = search.member.first_name, clock(search.sent_at or search.created_at)
    if is_answer_checked(search):
        texts = open_charge_texts(search, now, search.account.pause_reason)
        return texts.glyph, f"{who}, {since}. {texts.summary}"
    if search.state == ChargeState.UNKNOWN and not search.applied_at:
        outcome = lost_answer_outcome(search, now, search.account.pause_reason)
        return "unknown", UNKNOWN_TEXT.format(
            since=since, who=who, price=credits(search.price), outcome=outcome
        )
    if is_running(search):
        leave = "You can leave this page; the ideas appear here."
        return "running", f"Started {clock(search.created_at)} by {who}. {leave}"
    if search.is_open:
        texts = open_charge_texts(search, now, search.account.pause_reason)
        return texts.glyph, f"{who}, {since}. {texts.summary or texts.detail}"
    if search.is_charged:
        return "completed", f"{result_text(search)} Sent {since} by {who}."
    if search.is_assumed_uncharged:
        free = f"The {credits(search.hold)} cr held are free again."
        return "good", f"It was never charged. {free} Sent {since} by {who}."
    if search.status == NOT_FOUND_STATUS:
        return "completed", f"{FOUND_NOTHING} Sent {since} by {who}."
    return "failed", f"{search.reason} {who}, {since}."


def result_text(search: Search) -> str:
    """Return what an answered search found and cost, and by which entry that was settled later."""
    cost = search.cost or Decimal(0)
    if not cost:
        return "" if search.new_count else FOUND_NOTHING
    count = f"{search.new_count} new idea{'' if search.new_count == 1 else 's'}"
    if search.state == ChargeState.MATCHED and search.booked_at:
        found = f" {count} {'is' if search.new_count == 1 else 'are'} in the list."
        paid = f"It was charged: {credits(cost)} cr, ledger {clock(search.booked_at)}."
        return paid + (found if search.new_count else " All its ideas were in the list before.")
    if not search.new_count:
        return f"No new idea: all were in the list before. {credits(cost)} cr."
    return f"{count}, {credits(cost)} cr."


def build_bar(search: Charge, usual: tuple[float, float] | None, now: datetime) -> SearchBar:
    elapsed = max(0.0, (now - (search.sent_at or search.created_at)).total_seconds())
    low, high = usual or (0.0, 0.0)
    note = f"usually {duration_range_text(low, high)}, 2 min at most" if usual else "2 min at most"
    return SearchBar(
        elapsed=elapsed,
        fill=100 * elapsed / SEARCH_LIMIT_S,
        usual_start=100 * low / SEARCH_LIMIT_S,
        usual_width=100 * (high - low) / SEARCH_LIMIT_S,
        note=note,
    )


def count_note(shown: Sequence[Charge]) -> str:
    """Return a text such as `1 running, 1 unknown`."""
    running = sum(is_running(search) for search in shown)
    unknown = sum(search.state == ChargeState.UNKNOWN for search in shown)
    waiting = sum(search.is_open for search in shown) - running - unknown
    counts = {"running": running, "unknown": unknown, "waiting": waiting}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count)


def earlier_note(earlier: Sequence[Charge]) -> str:
    """Return a text such as `3 earlier searches in the last 24 hours, 30 cr`."""
    if not earlier:
        return ""
    count = "One earlier search" if len(earlier) == 1 else f"{len(earlier)} earlier searches"
    cost = sum(search.cost or Decimal(0) for search in earlier if search.state in CHARGED_STATES)
    return f"{count} in the last 24 hours, {credits(Decimal(cost))} cr"
