"""One ledger row with everything about it: the service's words, and what we found out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from django.urls import reverse

from dashboard.queries.address import job_url
from dashboard.queries.ledger.filters import Filters
from dashboard.queries.ledger.rows import attributed, is_another_teams
from dashboard.queries.ledger.words import feature, what
from dashboard.templatetags.reelroom import credits
from proxyapi.models import ApiCall, Charge, LedgerConflict, LedgerEntry

SOURCES = {
    True: "Shown among what came through the API.",
    False: "Not among what came through the API.",
    None: "Whether it came through the API has not been read yet.",
}
NO_CHARGE = (
    "No charge of ours fits it. Somebody on this account used another program or the service's own "
    "page."
)
ANOTHER_TEAMS_CHARGE = "A charge of another team of this portal, which uses the same account."
CREDIT = "Credits that came in, such as a plan, a top-up or a pack, belong to no charge."
REFUNDS = "It gives back what a charge of ours took."
AROUND = timedelta(minutes=5)  # in which a charge's call left after the charge was sent


@dataclass(frozen=True, slots=True)
class Fact:
    """`url` leads to what it is about; `mono`: a code or an id."""

    label: str
    value: str
    url: str = ""
    mono: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """The row as it was mirrored and as the service shows it now."""

    noticed: str
    before: str
    after: str
    accepted: bool


@dataclass(frozen=True, slots=True)
class EntryPage:
    """`words` are the service's own, `charge`, `call` and `others` what we have to it."""

    title: str
    amount: Decimal
    is_: str
    when: str
    account: str
    state: str
    glyph: str
    word: str
    reason: str
    words: tuple[Fact, ...]
    charge: tuple[Fact, ...]
    call: tuple[Fact, ...]
    others: tuple[Fact, ...]
    changes: tuple[Change, ...]
    back_url: str


def entry_of(entry: LedgerEntry) -> EntryPage:
    """Three queries, for a row that `fetch_entry` found."""
    zone, charge = entry.account.vault.zone, entry.charge
    state, glyph, word = attributed(entry)
    return EntryPage(
        title=what(entry),
        amount=entry.amount,
        is_="in" if entry.amount > 0 else "out",
        when=stamp(entry.happened_at, zone),
        account=entry.account.label,
        state=state,
        glyph=glyph or "good",
        word=word or "Credits in",
        reason=reason_of(entry),
        words=tuple(words_of(entry)),
        charge=tuple(charge_facts(entry, charge, zone)) if charge else (),
        call=tuple(call_facts(charge, zone)) if charge else (),
        others=tuple(others_of(entry, charge)) if charge else (),
        changes=tuple(changes_of(entry, zone)),
        back_url=Filters(period=f"{entry.happened_at.astimezone(zone):%Y-%m}").url(),
    )


def reason_of(entry: LedgerEntry) -> str:
    if entry.charge_id:
        return entry.reason or (REFUNDS if entry.amount > 0 else "")
    if entry.amount > 0:
        return CREDIT
    return ANOTHER_TEAMS_CHARGE if is_another_teams(entry) else NO_CHARGE


def words_of(entry: LedgerEntry) -> Iterator[Fact]:
    yield Fact("credit_spend", entry.credit_spend, mono=True)
    yield Fact("label", entry.label or "empty", Filters(label=entry.label, period="all").url())
    yield Fact("content_type", entry.content_type or "empty")
    yield Fact("transaction_type", entry.transaction_type or "empty")
    yield Fact("created_at", entry.booked_at or "empty", mono=True)
    yield Fact("Place in the ledger", f"{entry.number:,}")
    yield Fact("Source", SOURCES[entry.via_api])


def charge_facts(entry: LedgerEntry, charge: Charge, zone: ZoneInfo) -> Iterator[Fact]:
    yield Fact("What", feature(charge.operation), Filters(feature=charge.operation).url())
    yield Fact("Who", str(charge.member), Filters(member=charge.member_id).url())
    if entry.job:
        yield Fact("For", entry.job.title, job_url(entry.job))
        everything = Filters(job=entry.job.pk, period="all").url()
        yield Fact("All of this video", "Its entries", everything)
    yield Fact("State", charge.get_state_display())
    if charge.quote is not None:
        yield Fact("Price shown before", f"{credits(charge.quote)} cr")
    if charge.cost is not None:
        yield Fact("What it took", f"{credits(charge.cost)} cr")
    if charge.sent_at:
        yield Fact("Sent", stamp(charge.sent_at, zone))
    if charge.settled_at:
        yield Fact("Settled", stamp(charge.settled_at, zone))
    if charge.decided_by:
        yield Fact("Decided by", str(charge.decided_by))
    if charge.reason:
        yield Fact("Told", charge.reason)
    yield Fact("Charge", str(charge.pk), mono=True)


def call_facts(charge: Charge, zone: ZoneInfo) -> Iterator[Fact]:
    """The call that sent it: the first of its operation on its token since then."""
    if charge.sent_at is None:
        return
    span = (charge.sent_at - timedelta(seconds=1), charge.sent_at + AROUND)
    calls = ApiCall.objects.filter(
        token=charge.token_id, operation=charge.operation, sent_at__range=span
    )
    call = calls.order_by("sent_at").first()
    if call is None:
        return
    yield Fact("Operation", call.operation, mono=True)
    told = f"{call.status} {call.code}".strip() if call.status else call.get_outcome_display()
    yield Fact("Answer", told, mono=bool(call.status))
    yield Fact("Sent", stamp(call.sent_at, zone))
    yield Fact("Took", f"{call.milliseconds:,} ms")
    token = charge.token
    yield Fact("Token", f"{token.owner.first_name}'s, ending in {token.last_four}")


def others_of(entry: LedgerEntry, charge: Charge) -> Iterator[Fact]:
    """The other row of the same charge: its refund, or the debit that was refunded."""
    for other in charge.entries.exclude(pk=entry.pk).order_by("position"):
        label = "Refunded by" if other.amount > 0 else "Gives back"
        url = reverse("ledger-entry", args=[other.account_id, other.position])
        yield Fact(label, f"{other.label}, {credits(other.amount)}\N{NO-BREAK SPACE}cr", url)


def changes_of(entry: LedgerEntry, zone: ZoneInfo) -> Iterator[Change]:
    found = LedgerConflict.objects.filter(account=entry.account_id, position=entry.position)
    for one in found.order_by("-noticed_at"):
        after = told(one.after) if one.after is not None else "It is gone."
        accepted = one.accepted_at is not None
        yield Change(stamp(one.noticed_at, zone), told(one.before), after, accepted)


def told(row: object) -> str:
    return (
        ", ".join(f"{key} {value}" for key, value in row.items())
        if isinstance(row, dict)
        else str(row)
    )


def stamp(at: datetime, zone: ZoneInfo) -> str:
    local = at.astimezone(zone)
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S}"
