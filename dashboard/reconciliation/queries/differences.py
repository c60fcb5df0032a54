"""The differences between balance, ledger and charges, each with its age and actions, most serious
first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.urls import reverse

from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.feature_labels import feature_label
from dashboard.shared.formatting import clock, credits, day, duration
from dashboard.shared.job_pages import job_page_url
from dashboard.shared.roles import Permission
from dashboard.shared.videos.charge_status import is_long_unknown, lost_answer_outcome
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import quote_text
from proxyapi.ledger.reconciliation import (
    balance_difference,
    charges_missing_debit,
    find_renewal_of_gap,
)
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror, TokenState
from proxyapi.models.charge import MATCH_REMOVED_CODE

MAX_ODD_ENTRIES = 60  # more only if something is very wrong
MAX_OPEN_CHARGES = 1000  # high, because a whole batch may fail and the refunds owed are summed


@dataclass(frozen=True, slots=True)
class DifferenceAction:
    """A link that opens a dialog; with `post` a button that acts without a confirmation."""

    label: str
    url: str
    post: bool = False


@dataclass(frozen=True, slots=True)
class DifferenceItem:
    """`age` is text such as "for 6 min"; `id` is the anchor on the page."""

    id: str
    state: str
    title: str
    text: str
    age: str
    amount: CreditAmount | None = None
    actions: tuple[DifferenceAction, ...] = ()
    url: str = ""


@dataclass(frozen=True, slots=True)
class OwedRefund:
    """A refund that the service owes."""

    id: str
    what: str
    who: str
    amount: Decimal
    since: datetime
    age: str
    url: str


def load_differing_charges(account: Account, ledger: LedgerMirror) -> list[Charge]:
    """Unknown charges, charges with a refund owed, and charged ones without a ledger entry. One
    query of three parts, each with its own index."""
    unknown = Charge.objects.filter(state=ChargeState.UNKNOWN)
    owed = Charge.objects.filter(
        tenant=account.tenant_id, refund_owed_at__isnull=False, refunded_at__isnull=True
    )
    parts = [unknown, owed, charges_missing_debit(ledger).filter(refund_owed_at__isnull=True)]
    first, *others = (
        part.filter(account=account)
        .select_related("job", "member", "token", "account")
        .defer("token__ciphertext", "account__costs", "account__options")
        .order_by()
        for part in parts
    )
    # Sorted here: to sort in the database, SQLite would scan all charges.
    charges = first.union(*others, all=True)[:MAX_OPEN_CHARGES]
    return sorted(charges, key=lambda charge: (charge.sent_at or charge.created_at, charge.pk))


def load_differing_entries(account: Account) -> list[LedgerEntry]:
    """Entries with another amount than the service reported, and unreadable entries. One query."""
    rows = LedgerEntry.objects.filter(account=account).order_by()
    # Each with its own index: for both conditions at once, SQLite scans the whole ledger.
    parts = rows.filter(cost_difference__isnull=False), rows.filter(trouble__gt="")
    first, second = (part.values("pk") for part in parts)
    entries = LedgerEntry.objects.filter(pk__in=first.union(second))
    return list(entries.select_related("charge").order_by("position")[:MAX_ODD_ENTRIES])


def iter_difference_items(
    ledger: LedgerMirror,
    charges: Iterable[Charge],
    entries: Iterable[LedgerEntry],
    now: datetime,
    reader: Membership,
) -> Iterator[DifferenceItem]:
    yield from iter_ledger_items(
        ledger, now, may_act=has_permission(reader, Permission.MANAGE_MONEY)
    )
    for charge in charges:
        if charge.state == ChargeState.UNKNOWN:
            yield build_unknown_charge_item(charge, now, reader)
        elif charge.refund_owed_at is None or charge.refunded_at is not None:
            yield build_missing_entry_item(charge, now)
    for entry in entries:
        if entry.trouble:
            yield build_unreadable_entry_item(entry, now)
        elif entry.charge and entry.cost_difference is not None:
            yield build_amount_mismatch_item(entry, entry.charge, now)


def iter_ledger_items(
    ledger: LedgerMirror, now: datetime, *, may_act: bool
) -> Iterator[DifferenceItem]:
    if ledger.problem:
        yield DifferenceItem(
            "problem",
            "paused",
            "The ledger is not being updated",
            "Compare both versions above. Accept the service’s version, or ask the service why it "
            "changed.",
            age_text(ledger.read_at, now),
        )
    if difference := balance_difference(ledger):
        rebase_url = reverse("account-opening-balances", args=[ledger.pk])
        title, text = describe_balance_difference(ledger, difference)
        yield DifferenceItem(
            "balance",
            "unknown",
            title,
            text,
            age_text(ledger.anchor_at, now),
            CreditAmount(difference),
            (DifferenceAction("Reset opening balance", rebase_url),) if may_act else (),
        )
    if ledger.api_problem:
        text = f"{ledger.api_problem} We retry at least every hour."
        yield DifferenceItem("api", "late", "API spend cannot be separated", text, "")


def describe_balance_difference(ledger: LedgerMirror, difference: Decimal) -> tuple[str, str]:
    """Title and text; credits that expired at a renewal leave no entry of their own."""
    amount = credits(abs(difference))
    if renewal := find_renewal_of_gap(ledger):
        name = quote_text(renewal.label or renewal.content_type)
        text = (
            f"{name} of {day(renewal.happened_at)} added {credits(renewal.amount)} cr, and what "
            "was left before it went without an entry. If that is right, reset the opening balance."
        )
        return f"{amount} cr probably expired when the plan renewed", text
    text = (
        "The plan may have renewed, or extra credits may be counted separately. Ask the service, "
        "or reset the opening balance with a reason."
    )
    what = "were added" if difference > 0 else "are missing"
    return f"{amount} cr {what} without an entry", text


def build_negative_opening_item(opening: Decimal | None) -> tuple[DifferenceItem, ...]:
    """What the first comparison found: no balance was below 0 before the first entry."""
    if opening is None or opening >= 0:
        return ()
    return (
        DifferenceItem(
            "opening",
            "unknown",
            f"{credits(-opening)} cr of the entries are not in the balance",
            "The service may count extra credits separately, or credits may have expired without "
            "an entry before the ledger was first read. Ask the service.",
            "",
            CreditAmount(opening),
        ),
    )


def build_unknown_charge_item(charge: Charge, now: datetime, reader: Membership) -> DifferenceItem:
    sent = charge.sent_at or charge.created_at
    return DifferenceItem(
        f"charge-{charge.pk}",
        "unknown",
        f"{charge_title(charge)}, sent {clock(sent)}",
        f"The response was lost. {lost_answer_outcome(charge, now, charge.account.pause_reason)}",
        age_text(sent, now),
        CreditAmount(charge.price, "unknown"),
        build_unknown_charge_actions(charge, now, reader),
        job_page_url(charge.job),
    )


def build_unknown_charge_actions(
    charge: Charge, now: datetime, reader: Membership
) -> tuple[DifferenceAction, ...]:
    """Empty while the portal itself checks the charge every few seconds."""
    if not is_long_unknown(charge, now):
        return ()
    actions = []
    has_working_token = (
        charge.token.state == TokenState.WORKING and charge.account.is_of_current_upstream
    )
    is_readable = has_working_token and charge.code != MATCH_REMOVED_CODE
    if has_permission(reader, Permission.RECHECK) and is_readable:
        actions.append(
            DifferenceAction("Check again", reverse("charge-checks", args=[charge.pk]), post=True)
        )
    if has_permission(reader, Permission.MANAGE_MONEY):
        actions += [
            DifferenceAction("Match entry", reverse("charge-matches", args=[charge.pk])),
            DifferenceAction("Write off charge", reverse("charge-write-offs", args=[charge.pk])),
        ]
    return tuple(actions)


def build_missing_entry_item(charge: Charge, now: datetime) -> DifferenceItem:
    return DifferenceItem(
        f"charge-{charge.pk}",
        "late",
        f"{charge_title(charge)} has no entry",
        f"The service reported {credits(charge.cost)} cr, but no ledger row matches. It may be "
        "recorded later. If not, the service reported a cost that it never charged.",
        age_text(charge.settled_at, now),
        CreditAmount(charge.cost or Decimal(0)),
        url=job_page_url(charge.job),
    )


def build_amount_mismatch_item(entry: LedgerEntry, charge: Charge, now: datetime) -> DifferenceItem:
    return DifferenceItem(
        f"entry-{entry.position}",
        "late",
        f"{feature_label(entry.operation)} cost differs from the ledger",
        f"The service reported {credits(charge.cost)} cr and recorded {credits(-entry.amount)}. "
        "The balance follows the ledger. Ask the service about it.",
        age_text(entry.happened_at, now),
        CreditAmount(-(entry.cost_difference or Decimal(0))),
        url=ledger_entry_url(entry),
    )


def build_unreadable_entry_item(entry: LedgerEntry, now: datetime) -> DifferenceItem:
    return DifferenceItem(
        f"entry-{entry.position}",
        "late",
        f"Row {entry.number:,} of the ledger cannot be read",
        f"{quote_text(f'{entry.credit_spend} {entry.label}')}: {entry.trouble} Ask the service "
        "what "
        "it means.",
        age_text(entry.happened_at, now),
        url=ledger_entry_url(entry),
    )


def iter_owed_refunds(charges: Iterable[Charge], now: datetime) -> Iterator[OwedRefund]:
    """The refunds that are not booked yet, oldest first."""
    owed = [charge for charge in charges if charge.refund_owed_at and not charge.refunded_at]
    for charge in sorted(owed, key=lambda charge: charge.refund_owed_at or now):
        since = charge.refund_owed_at or now
        yield OwedRefund(
            id=f"charge-{charge.pk}",
            what=charge.job.title if charge.job else feature_label(charge.operation),
            who=charge.member.first_name,
            amount=charge.cost or Decimal(0),
            since=since,
            age=age_text(since, now),
            url=job_page_url(charge.job),
        )


def charge_title(charge: Charge) -> str:
    """`Luca’s render “Night trains are back”`"""
    title = f" {quote_text(charge.job.title)}" if charge.job else ""
    return f"{charge.member.first_name}’s {feature_label(charge.operation).lower()}{title}"


def ledger_entry_url(entry: LedgerEntry) -> str:
    return reverse("ledger-entry", args=[entry.account_id, entry.position])


def age_text(since: datetime | None, now: datetime) -> str:
    """`for 6 min`, `since 18 Nov, 2 days`"""
    if since is None:
        return ""
    age = max(timedelta(0), now - since)
    if age >= timedelta(days=1):
        days = age.days
        return f"since {day(since)}, {days} day{'' if days == 1 else 's'}"
    minutes = timedelta(minutes=age.total_seconds() // 60)
    return f"for {duration(minutes)}" if minutes else "just now"
