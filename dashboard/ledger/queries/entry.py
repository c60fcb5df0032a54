"""One ledger entry: the service's fields, its attribution and its charge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.urls import reverse

from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.rows import attribution_labels, belongs_to_other_team
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.feature_labels import entry_title, feature_label
from dashboard.shared.formatting import credits
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.roles import Permission
from proxyapi.charges import find_match_obstacle
from proxyapi.models import ApiCall, Charge, LedgerConflict, LedgerEntry

VIA_API_TEXTS = {
    True: "Made through the API.",
    False: "Not made through the API.",
    None: "Not known yet whether it was made through the API.",
}
NO_CHARGE_TEXT = (
    "No charge of the portal matches it. Someone used another program or the service's website "
    "with this account."
)
OTHER_TEAM_CHARGE_TEXT = "Charged by another team of this portal that uses the same account."
INCOMING_CREDITS_TEXT = "Incoming credits, such as a plan, a top-up or a pack, have no charge."
REFUND_TEXT = "It refunds a charge of the portal."
CALL_MATCH_WINDOW = timedelta(minutes=5)  # from `sent_at` of a charge to its call


@dataclass(frozen=True, slots=True)
class EntryFact:
    """`url` links to the subject of the fact; `mono` marks a code or an id."""

    label: str
    value: str
    url: str = ""
    mono: bool = False


def load_entry_page(reader: Membership, entry: LedgerEntry) -> dict[str, Any]:
    """At most three queries, for an entry loaded with its relations. `upstream_facts` are the
    service's fields; `charge`, `call` and `related_entries` are our records."""
    zone, charge = entry.account.tenant.zone, entry.charge
    state, glyph, word = attribution_labels(entry)
    return {
        "title": entry_title(entry),
        "amount": entry.amount,
        "direction": "in" if entry.amount > 0 else "out",
        "when": format_entry_time(entry.happened_at, zone),
        "account": entry.account.label,
        "state": state,
        "glyph": glyph or "good",
        "word": word or "Credits in",
        "reason": attribution_reason(entry),
        "upstream_facts": tuple(iter_upstream_facts(entry)),
        "charge": tuple(iter_charge_facts(entry, charge, zone)) if charge else (),
        "imported_video": () if charge else tuple(iter_job_facts(entry)),
        "call": tuple(iter_call_facts(charge, zone)) if charge else (),
        "related_entries": tuple(iter_related_entry_facts(entry, charge)) if charge else (),
        "changes": tuple(iter_entry_revisions(entry, zone)),
        "removal_url": match_removal_url(reader, entry),
        "naming_url": outside_naming_url(reader, entry),
        "back_url": LedgerFilters(period=f"{entry.happened_at.astimezone(zone):%Y-%m}").url(),
    }


def match_removal_url(reader: Membership, entry: LedgerEntry) -> str:
    """Where the reader can remove the match; empty if they may not, or something forbids it."""
    charge = entry.charge
    if charge is None or not has_permission(reader, Permission.MANAGE_MONEY):
        return ""
    if find_match_obstacle(charge):
        return ""
    return reverse("charge-match-removals", args=[charge.pk])


def outside_naming_url(reader: Membership, entry: LedgerEntry) -> str:
    """Where the reader can name the source of a debit outside the portal; empty if it has a name,
    or they may not."""
    is_outside = not entry.is_explained and entry.amount < 0 and not belongs_to_other_team(entry)
    if not is_outside or getattr(entry, "source", None):
        return ""
    if not has_permission(reader, Permission.MANAGE_MONEY):
        return ""
    url = reverse("outside-source-new", args=[entry.account_id])
    return f"{url}?position={entry.position}"


def attribution_reason(entry: LedgerEntry) -> str:
    if entry.is_explained:
        return entry.reason or (REFUND_TEXT if entry.amount > 0 else "")
    if entry.amount > 0:
        return INCOMING_CREDITS_TEXT
    return OTHER_TEAM_CHARGE_TEXT if belongs_to_other_team(entry) else NO_CHARGE_TEXT


def iter_upstream_facts(entry: LedgerEntry) -> Iterator[EntryFact]:
    yield EntryFact("credit_spend", entry.credit_spend, mono=True)
    label_url = LedgerFilters(search=entry.label, period="all").url() if entry.label else ""
    yield EntryFact("label", entry.label or "empty", label_url)
    types_url = LedgerFilters(content_type=entry.content_type, period="all").url()
    yield EntryFact("content_type", entry.content_type or "empty", types_url)
    yield EntryFact("transaction_type", entry.transaction_type or "empty")
    yield EntryFact("created_at", entry.booked_at or "empty", mono=True)
    yield EntryFact("Position in the ledger", f"{entry.number:,}")
    yield EntryFact("Source", VIA_API_TEXTS[entry.via_api])


def iter_job_facts(entry: LedgerEntry) -> Iterator[EntryFact]:
    """The video of the charge, or the imported one that the entry names."""
    if entry.job:
        yield EntryFact("For", entry.job.title, job_page_url(entry.job))
        entries_url = LedgerFilters(job=entry.job.pk, period="all").url()
        yield EntryFact("All entries of this video", "Entries", entries_url)


def iter_charge_facts(entry: LedgerEntry, charge: Charge, zone: ZoneInfo) -> Iterator[EntryFact]:
    yield EntryFact(
        "What", feature_label(charge.operation), LedgerFilters(feature=charge.operation).url()
    )
    yield EntryFact("Who", str(charge.member), LedgerFilters(member=charge.member_id).url())
    yield from iter_job_facts(entry)
    yield EntryFact("State", charge.get_state_display())
    if charge.quote is not None:
        yield EntryFact("Quoted price", f"{credits(charge.quote)} cr")
    if charge.cost is not None:
        yield EntryFact("Actual cost", f"{credits(charge.cost)} cr")
    if charge.sent_at:
        yield EntryFact("Sent", format_entry_time(charge.sent_at, zone))
    if charge.settled_at:
        yield EntryFact("Settled", format_entry_time(charge.settled_at, zone))
    if charge.decided_by:
        yield EntryFact("Decided by", str(charge.decided_by))
    if charge.reason:
        yield EntryFact("Told", charge.reason)
    yield EntryFact("Charge", str(charge.pk), mono=True)


def iter_call_facts(charge: Charge, zone: ZoneInfo) -> Iterator[EntryFact]:
    """The call that sent the charge: the first of its operation on its token since it was sent."""
    if charge.sent_at is None:
        return
    span = (charge.sent_at - timedelta(seconds=1), charge.sent_at + CALL_MATCH_WINDOW)
    calls = ApiCall.objects.filter(
        token=charge.token_id, operation=charge.operation, sent_at__range=span
    )
    call = calls.order_by("sent_at").first()
    if call is None:
        return
    yield EntryFact("Operation", call.operation, mono=True)
    response_text = (
        f"{call.status} {call.code}".strip() if call.status else call.get_outcome_display()
    )
    yield EntryFact("Answer", response_text, mono=bool(call.status))
    yield EntryFact("Sent", format_entry_time(call.sent_at, zone))
    yield EntryFact("Took", f"{call.milliseconds:,} ms")
    token = charge.token
    yield EntryFact("Token", f"{token.owner.first_name}'s, ending in {token.last_four}")


def iter_related_entry_facts(entry: LedgerEntry, charge: Charge) -> Iterator[EntryFact]:
    """The other entry of the same charge: its refund, or the debit that was refunded."""
    for other in charge.entries.exclude(pk=entry.pk).order_by("position"):
        label = "Refunded by" if other.amount > 0 else "Refund of"
        url = reverse("ledger-entry", args=[other.account_id, other.position])
        yield EntryFact(label, f"{other.label}, {credits(other.amount)}\N{NO-BREAK SPACE}cr", url)


def iter_entry_revisions(entry: LedgerEntry, zone: ZoneInfo) -> Iterator[dict[str, Any]]:
    """The row as it was mirrored, and as the service shows it now."""
    conflicts = LedgerConflict.objects.filter(account=entry.account_id, position=entry.position)
    for conflict in conflicts.order_by("-noticed_at"):
        after = revision_text(conflict.after) if conflict.after is not None else "It was removed."
        accepted = conflict.accepted_at is not None
        yield {
            "noticed": format_entry_time(conflict.noticed_at, zone),
            "before": revision_text(conflict.before),
            "after": after,
            "accepted": accepted,
        }


def revision_text(row: object) -> str:
    return (
        ", ".join(f"{key} {value}" for key, value in row.items())
        if isinstance(row, dict)
        else str(row)
    )


def format_entry_time(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S}"
