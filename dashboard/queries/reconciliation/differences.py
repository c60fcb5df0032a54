"""What does not add up, each with its age and what to do, the gravest first (look §11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import reverse

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.address import job_url
from dashboard.queries.ledger.words import feature
from dashboard.queries.videos.cost import Amount
from dashboard.queries.videos.sayings import DECIDED_WITHIN, is_left_open
from dashboard.queries.videos.words import quoted
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import clock, credits, day, duration
from proxyapi.ledger.differences import balance_difference, charges_missing_debit
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror, TokenState

MOST = 60  # rows that are odd; there are never so many unless something is very wrong
CHARGES = 1000  # a batch of a script may fail as a whole: their sum is what the service owes


@dataclass(frozen=True, slots=True)
class Act:
    """A link that opens a dialog; `post`: a button that is done by the press, and asks nothing."""

    label: str
    url: str
    post: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """`age`: since when, in words. `id` is its place in the page."""

    id: str
    state: str
    title: str
    text: str
    age: str
    amount: Amount | None = None
    acts: tuple[Act, ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True)
class Owed:
    """A refund that the service owes."""

    id: str
    what: str
    who: str
    amount: Decimal
    since: datetime
    age: str
    url: str


def charges_of(account: Account, ledger: LedgerMirror) -> list[Charge]:
    """Charges of unknown outcome, those that a refund is owed for, and those that took credits
    without a row of the ledger that fits. One query, of three parts with an index each."""
    unknown = Charge.objects.filter(state=ChargeState.UNKNOWN)
    owed = Charge.objects.filter(
        vault=account.vault_id, refund_owed_at__isnull=False, refunded_at__isnull=True
    )
    parts = [unknown, owed, charges_missing_debit(ledger).filter(refund_owed_at__isnull=True)]
    first, *others = (
        part.filter(account=account)
        .select_related("job", "member", "token", "account")
        .defer("token__sealed", "account__costs", "account__options")
        .order_by()
        for part in parts
    )
    # Put in order here: in order of the database, SQLite would go through all charges for it.
    found = first.union(*others, all=True)[:CHARGES]
    return sorted(found, key=lambda charge: (charge.sent_at or charge.created_at, charge.pk))


def entries_of(account: Account) -> list[LedgerEntry]:
    """Rows that were booked otherwise than told, and rows that cannot be read. One query."""
    rows = LedgerEntry.objects.filter(account=account).order_by()
    # Each along its own index: asked for both at once, SQLite goes through the whole ledger.
    parts = rows.filter(off__isnull=False), rows.filter(trouble__gt="")
    first, second = (part.values("pk") for part in parts)
    found = LedgerEntry.objects.filter(pk__in=first.union(second))
    return list(found.select_related("charge").order_by("position")[:MOST])


def items_of(
    ledger: LedgerMirror,
    charges: Iterable[Charge],
    entries: Iterable[LedgerEntry],
    now: datetime,
    reader: Membership,
) -> Iterator[Item]:
    yield from of_ledger(ledger, now, may_act=can(reader, Permission.MANAGE_MONEY))
    for charge in charges:
        if charge.state == ChargeState.UNKNOWN:
            yield unknown(charge, now, reader)
        elif charge.refund_owed_at is None or charge.refunded_at is not None:
            yield without_debit(charge, now)
    for entry in entries:
        if entry.trouble:
            yield unreadable(entry, now)
        elif entry.charge and entry.off is not None:
            yield unlike(entry, entry.charge, now)


def of_ledger(ledger: LedgerMirror, now: datetime, *, may_act: bool) -> Iterator[Item]:
    if ledger.problem:
        yield Item(
            "problem",
            "paused",
            "The ledger is not read on",
            "Compare both versions above. Take the service’s, or ask the service why it changed.",
            age_of(ledger.read_at, now),
        )
    if gap := balance_difference(ledger):
        anchors = reverse("account-anchors", args=[ledger.pk])
        yield Item(
            "balance",
            "unknown",
            f"{credits(abs(gap))} cr {'came' if gap > 0 else 'went'} without an entry",
            "The plan may have renewed, or extra credits may be counted apart. Ask the service, "
            "or set the opening balance anew, with a reason.",
            age_of(ledger.anchor_at, now),
            Amount(gap),
            (Act("Set the opening balance anew", anchors),) if may_act else (),
        )
    if ledger.api_problem:
        text = f"{ledger.api_problem} It is tried again at least every hour."
        yield Item("api", "late", "What came through the API is not told apart", text, "")


def unknown(charge: Charge, now: datetime, reader: Membership) -> Item:
    sent = charge.sent_at or charge.created_at
    if paused := charge.account.pause_reason:
        text = f"The answer got lost. {paused} Then it is read back."
    elif is_left_open(charge, now):
        text = (
            "The answer got lost, and no entry of the ledger fits for certain. Say which one it "
            "is, or write it off."
        )
        text += (
            "" if can(reader, Permission.MANAGE_MONEY) else " The treasurer or the owner decides."
        )
    else:
        until = clock(sent + DECIDED_WITHIN)
        text = f"The answer got lost. The ledger decides, at the latest by {until}."
    return Item(
        f"charge-{charge.pk}",
        "unknown",
        f"{whose(charge)}, sent {clock(sent)}",
        text,
        age_of(sent, now),
        Amount(charge.price, "unknown"),
        acts_of(charge, now, reader),
        job_url(charge.job),
    )


def acts_of(charge: Charge, now: datetime, reader: Membership) -> tuple[Act, ...]:
    """None while it is looked for every few seconds."""
    if not is_left_open(charge, now):
        return ()
    acts = []
    works = charge.token.state == TokenState.WORKING and charge.account.is_of_current_upstream
    if can(reader, Permission.LOOK_AGAIN) and works:
        acts.append(Act("Look again", reverse("charge-looks", args=[charge.pk]), post=True))
    if can(reader, Permission.MANAGE_MONEY):
        acts += [
            Act("This entry is it", reverse("charge-matches", args=[charge.pk])),
            Act("Write it off", reverse("charge-write-offs", args=[charge.pk])),
        ]
    return tuple(acts)


def without_debit(charge: Charge, now: datetime) -> Item:
    return Item(
        f"charge-{charge.pk}",
        "late",
        f"{whose(charge)} has no entry",
        f"The service told {credits(charge.cost)} cr, and no row of the ledger fits. It may be "
        "booked later. If it stays so, the service told a cost that it never took.",
        age_of(charge.settled_at, now),
        Amount(charge.cost or Decimal(0)),
        url=job_url(charge.job),
    )


def unlike(entry: LedgerEntry, charge: Charge, now: datetime) -> Item:
    return Item(
        f"entry-{entry.position}",
        "late",
        f"{feature(entry.operation)} was booked otherwise than told",
        f"The service told {credits(charge.cost)} cr and booked {credits(-entry.amount)}. The "
        "balance follows the ledger. Ask the service about it.",
        age_of(entry.happened_at, now),
        Amount(-(entry.off or Decimal(0))),
        url=entry_url(entry),
    )


def unreadable(entry: LedgerEntry, now: datetime) -> Item:
    return Item(
        f"entry-{entry.position}",
        "late",
        f"Row {entry.number:,} of the ledger cannot be read",
        f"{quoted(f'{entry.credit_spend} {entry.label}')}: {entry.trouble} Ask the service what "
        "it means.",
        age_of(entry.happened_at, now),
        url=entry_url(entry),
    )


def owed_of(charges: Iterable[Charge], now: datetime) -> Iterator[Owed]:
    """The refunds that have not come, the oldest first."""
    owed = [one for one in charges if one.refund_owed_at and not one.refunded_at]
    for charge in sorted(owed, key=lambda one: one.refund_owed_at or now):
        since = charge.refund_owed_at or now
        yield Owed(
            id=f"charge-{charge.pk}",
            what=charge.job.title if charge.job else feature(charge.operation),
            who=charge.member.first_name,
            amount=charge.cost or Decimal(0),
            since=since,
            age=age_of(since, now),
            url=job_url(charge.job),
        )


def whose(charge: Charge) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quoted(charge.job.title)}" if charge.job else ""
    return f"{charge.member.first_name}’s {feature(charge.operation).lower()}{title}"


def entry_url(entry: LedgerEntry) -> str:
    return reverse("ledger-entry", args=[entry.account_id, entry.position])


def age_of(since: datetime | None, now: datetime) -> str:
    """`since today, 6 min`, `since 18 Nov, 2 days`"""
    if since is None:
        return ""
    passed = max(timedelta(0), now - since)
    if passed >= timedelta(days=1):
        days = passed.days
        return f"since {day(since)}, {days} day{'' if days == 1 else 's'}"
    minutes = timedelta(minutes=passed.total_seconds() // 60)
    return f"for {duration(minutes)}" if minutes else "just now"
