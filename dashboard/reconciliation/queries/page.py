"""The reconciliation page of one account.

Its two equations are balance = opening + entries and entries = charges + outside, in two queries;
tests/dashboard/reconciliation/test_statement.py compares them with sums over all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import DecimalField, F, OuterRef, QuerySet, Subquery, Sum
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership, annotate_outside_source
from dashboard.reconciliation.queries.differences import (
    DifferenceAction,
    DifferenceItem,
    OwedRefund,
    age_text,
    build_negative_opening_item,
    iter_difference_items,
    iter_owed_refunds,
    load_differing_charges,
    load_differing_entries,
)
from dashboard.shared.access import has_permission
from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.shared.formatting import clock
from dashboard.shared.ledger_agreement import (
    LedgerAgreement,
    check_ledger_agreement,
    ledger_or_none,
    ledger_sync_progress,
)
from dashboard.shared.outside_spend import OUTSIDE_SPEND_AGE, load_outside_days
from dashboard.shared.roles import Permission
from proxyapi.ledger.reconciliation import (
    balance_difference,
    compute_opening_balance,
    sum_entries_by_kind,
)
from proxyapi.models import (
    Account,
    BalanceRebase,
    Charge,
    DailyTotalByOperation,
    LedgerConflict,
    LedgerEntry,
    LedgerMirror,
)
from proxyapi.models.account import CREDIT_FIELD_OPTIONS, parse_timestamp, quantize_credits
from proxyapi.models.charge import UNDECIDED_STATES
from proxyapi.models.ledger_entry import IS_UNEXPLAINED

MAX_CONFLICTS_SHOWN = 60
MIN_CONFLICTS_FOR_BULK = 2
MAX_ACCEPTED_DIFFERENCES = 20
MAX_OUTSIDE_DEBITS = 8


@dataclass(frozen=True, slots=True)
class LedgerConflictRow:
    """A ledger row in both versions; `after` is empty if the service no longer shows the row."""

    number: int
    before: str
    after: str
    noticed_at: datetime
    age: str
    actions: tuple[DifferenceAction, ...]


@dataclass(frozen=True, slots=True)
class MirrorProgress:
    """The number of mirrored rows, of all rows, and the percentage."""

    mirrored: int
    total: int
    percent: float


@dataclass(frozen=True, slots=True)
class ReconciliationPage:
    account: Account
    tabs: tuple[AccountTab, ...]
    agreement: LedgerAgreement | None
    statement: BalanceStatement
    items: tuple[DifferenceItem, ...]
    owed: tuple[OwedRefund, ...]
    outside: tuple[LedgerEntry, ...]
    sources: tuple[dict[str, Any], ...]
    conflicts: tuple[LedgerConflictRow, ...]
    progress: MirrorProgress | None
    may_act: bool
    url: str

    @property
    def bulk_actions(self) -> tuple[DifferenceAction, ...]:
        """Actions on all conflicts at once, if there are several."""
        if not self.may_act or len(self.conflicts) < MIN_CONFLICTS_FOR_BULK:
            return ()
        url = reverse("account-acceptances", args=[self.account.pk])
        return (DifferenceAction("Accept all", url),)

    @property
    def owed_sum(self) -> Decimal:
        return sum((refund.amount for refund in self.owed), Decimal(0))


def build_reconciliation_page(
    reader: Membership, accounts: Sequence[Account], account_id: str
) -> ReconciliationPage | None:
    """Five queries, and for debits outside the portal two, or three if sources of them are named.
    `account_id` is a UUID as text; None without an account."""
    if not accounts:
        return None
    account = next(
        (candidate for candidate in accounts if str(candidate.pk) == account_id), accounts[0]
    )
    ledger, now = ledger_or_none(account) or LedgerMirror(account=account), timezone.now()
    may_act, zone = has_permission(reader, Permission.MANAGE_MONEY), reader.team.tenant.zone
    charges = load_differing_charges(account, ledger)
    items = iter_difference_items(ledger, charges, load_differing_entries(account), now, reader)
    statement = load_balance_statement(account, ledger)
    opening = build_negative_opening_item(statement.opening)
    return ReconciliationPage(
        account=account,
        tabs=build_account_tabs("reconciliation", accounts, account),
        agreement=check_ledger_agreement([account]),
        statement=statement,
        items=(*opening, *items),
        owed=tuple(iter_owed_refunds(charges, now)),
        outside=load_outside_debits(account, zone) if statement.outside else (),
        sources=load_outside_sources(account, zone, now) if statement.outside else (),
        conflicts=build_conflict_rows(account, now, may_act=may_act),
        may_act=may_act,
        progress=build_mirror_progress(ledger),
        url=reconciliation_url(account.pk),
    )


def reconciliation_url(account: UUID) -> str:
    return f"{reverse('reconciliation')}?account={account}"


def build_mirror_progress(ledger: LedgerMirror) -> MirrorProgress | None:
    """None once every row is mirrored."""
    if ledger.is_complete:
        return None
    mirrored, total = ledger_sync_progress([ledger])
    return MirrorProgress(mirrored, total, 100 * mirrored / total if total else 0.0)


def load_outside_debits(account: Account, zone: ZoneInfo) -> tuple[LedgerEntry, ...]:
    """The newest debits that nothing explains, with the names of their sources."""
    debits = LedgerEntry.objects.filter(IS_UNEXPLAINED, account=account, amount__lt=0)
    named = annotate_outside_source(debits, zone, "name")
    return tuple(named.order_by("-happened_at", "-position")[:MAX_OUTSIDE_DEBITS])


def load_outside_sources(
    account: Account, zone: ZoneInfo, now: datetime
) -> tuple[dict[str, Any], ...]:
    """What each named source spent in the last 30 days, and what has no name."""
    sources = list(account.outside_sources.all())
    if not sources:
        return ()
    accounts = Account.objects.filter(pk=account.pk)
    days = load_outside_days(accounts, now - OUTSIDE_SPEND_AGE, zone)
    rows = []
    for source in (*sources, None):
        own = [day for day in days if day.source == (source and source.pk)]
        rows.append(
            {
                "source": source,
                "credits": sum((day.credits for day in own), Decimal(0)),
                "debits": sum(day.debits for day in own),
                "highest": max((day.credits for day in own), default=Decimal(0)),
            }
        )
    return tuple(rows)


def build_conflict_rows(
    account: Account, now: datetime, *, may_act: bool
) -> tuple[LedgerConflictRow, ...]:
    rows = LedgerConflict.objects.filter(account=account, accepted_at__isnull=True)
    return tuple(
        LedgerConflictRow(
            number=row.number,
            before=conflict_versions(row)[0],
            after=conflict_versions(row)[1],
            noticed_at=row.noticed_at,
            age=age_text(row.noticed_at, now),
            actions=(
                DifferenceAction("Accept version", reverse("conflict-acceptances", args=[row.pk])),
            )
            if may_act
            else (),
        )
        for row in rows.order_by("position")[:MAX_CONFLICTS_SHOWN]
    )


def conflict_versions(row: LedgerConflict) -> tuple[str, str]:
    """Both versions as text; with every field if the short texts are equal."""
    before, after = entry_version_text(row.before), entry_version_text(row.after)
    if before != after:
        return before, after
    return ", ".join(map(str, row.before.values())), ", ".join(map(str, (row.after or {}).values()))


def entry_version_text(row: object) -> str:
    """`−96 Render, 20 Nov 14:21`; empty for a row that is missing."""
    if not isinstance(row, dict):
        return ""
    label = str(row.get("label") or row.get("content_type") or "")
    amount = str(row.get("credit_spend") or "").replace("-", "\N{MINUS SIGN}")
    written = str(row.get("created_at") or "")
    booked_at = parse_timestamp(written)
    return ", ".join(filter(None, (f"{amount} {label}".strip(), clock(booked_at) or written)))


@dataclass(frozen=True, slots=True)
class BalanceStatement:
    """Positive credits, but signed for `opening`, `difference` and `unexplained`.

    `newer` is the net sum of entries since the balance was read.
    """

    opening: Decimal | None
    received: Decimal
    refunded: Decimal
    spent: Decimal
    newer: Decimal
    reported_balance: Decimal | None
    as_of: datetime | None
    difference: Decimal
    matched: Decimal
    imported: Decimal
    outside: Decimal
    charged: Decimal
    unexplained: Decimal
    at_risk: Decimal

    @property
    def computed_balance(self) -> Decimal | None:
        """The balance at the time it was read, according to the ledger."""
        if self.opening is None:
            return None
        return self.opening + self.received + self.refunded - self.spent - self.newer


def load_balance_statement(account: Account, ledger: LedgerMirror) -> BalanceStatement:
    debits, explained, credits, refunded = sum_entries_by_kind(account)
    uncounted, at_risk, newer, imported = load_charge_sums(account)
    matched = imported - explained
    return BalanceStatement(
        opening=compute_opening_balance(ledger, debits + credits - newer),
        received=credits - refunded,
        refunded=refunded,
        spent=-debits,
        newer=newer,
        reported_balance=ledger.balance_exact,
        as_of=ledger.checkpoint_at,
        difference=balance_difference(ledger),
        matched=matched,
        imported=-imported,
        outside=explained - debits,
        # A charge cost what its debit says.
        charged=matched + uncounted,
        unexplained=uncounted,
        at_risk=at_risk,
    )


def load_charge_sums(account: Account) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """The sums of what charges cost beyond their debits, what undecided charges hold, the entries
    after the last balance checkpoint, and the debits of imported jobs, which are negative."""
    charges = Charge.objects.filter(account=OuterRef("pk"))
    without_debit = Charge.objects.without_debit().filter(account=OuterRef("pk"))
    rows = LedgerEntry.objects.filter(account=OuterRef("pk"))
    imported = DailyTotalByOperation.objects.filter(account=OuterRef("pk"))
    parts = (
        (without_debit, "cost"),
        (rows.filter(cost_difference__isnull=False), "cost_difference"),
        (charges.filter(state__in=UNDECIDED_STATES), "hold"),
        (rows.filter(position__gte=OuterRef("ledger__checkpoint_high")), "amount"),
        (imported.filter(operation="", is_matched=True, is_credit=False), "amount"),
    )
    summed = [sum_by_account(*part) for part in parts]
    totals = Account.objects.filter(pk=account.pk).values_list(*summed).get()
    unbooked, cost_differences, at_risk, newer, of_imports = map(quantize_credits, totals)
    return unbooked + cost_differences, at_risk, newer, of_imports


def sum_by_account(rows: QuerySet[Any], field: str) -> Subquery:
    summed = rows.order_by().values("account").annotate(sum=Sum(F(field))).values("sum")
    return Subquery(summed, output_field=DecimalField(**CREDIT_FIELD_OPTIONS))


def load_accepted_differences(account: Account) -> list[BalanceRebase]:
    """Newest first, with their members. One query."""
    rows = account.rebases.select_related("member").order_by("-happened_at", "-pk")
    return list(rows[:MAX_ACCEPTED_DIFFERENCES])
