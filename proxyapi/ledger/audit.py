"""The audit of one account, from its rows alone: no stored sum is trusted."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import F, Model, Q, QuerySet

from proxyapi.ledger import balance_checkpoint, reconciliation
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    LedgerEntry,
    LedgerMirror,
    MonthlyPriceCount,
    MonthlyTotalByOperation,
)
from proxyapi.models.account import amount_text
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.models.ledger_entry import IS_UNEXPLAINED
from proxyapi.rollups.daily_totals import DAILY_TABLES, CreditSum

ZERO_CREDITS = Decimal(0)
SUM_TABLES: tuple[type[Model], ...] = (*DAILY_TABLES, MonthlyTotalByOperation)
IS_DEBIT, IS_CREDIT = Q(amount__lt=0), Q(amount__gt=0)
IS_MATCHED, IS_OUTSIDE = Q(charge__isnull=False), IS_DEBIT & IS_UNEXPLAINED


@dataclass(slots=True)
class LedgerAudit:
    """`lines` are named sums, `problems` sentences; without problems everything agrees."""

    lines: list[tuple[str, Decimal | int | None]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def check(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)


def audit_account(account: Account) -> LedgerAudit:
    """Compare the balance with the rows, the rows with the charges, and stored sums with the
    rows."""
    result, ledger = LedgerAudit(), LedgerMirror.objects.filter(pk=account.pk).first()
    if ledger is None or ledger.read_at is None:
        result.problems.append("Its ledger was never read.")
        return result
    audit_rows(result, ledger)
    audit_balance(result, ledger)
    audit_charges(result, ledger)
    audit_stored_sums(result, account)
    return result


def audit_rows(result: LedgerAudit, ledger: LedgerMirror) -> None:
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    row_count, span = rows.count(), ledger.high - ledger.low
    result.lines += [("rows at the service", ledger.total), ("rows mirrored", row_count)]
    result.check(not ledger.problem, ledger.problem)
    result.check(ledger.low == 0, f"{ledger.low} older rows have not been read yet.")
    result.check(row_count == span, f"There are {row_count} rows for {span} positions.")
    result.check(ledger.high == ledger.total, "The newest ledger rows are not mirrored.")
    unreadable_count = rows.exclude(trouble="").count()
    result.check(not unreadable_count, f"{unreadable_count} rows cannot be parsed.")


def audit_balance(result: LedgerAudit, ledger: LedgerMirror) -> None:
    if ledger.balance_exact is None or ledger.anchor_balance is None:
        result.problems.append("No balance checkpoint has been taken.")
        return
    low, high = ledger.anchor_high or 0, ledger.checkpoint_high or 0
    balance_change = ledger.balance_exact - ledger.anchor_balance
    entries_sum = balance_checkpoint.sum_positions(ledger, low, high)
    result.lines += [
        ("balance, exact", ledger.balance_exact),
        (f"Δ balance since row {low}", balance_change),
        (f"Σ rows after it, up to row {high}", entries_sum),
    ]
    result.check(
        balance_change == entries_sum,
        f"The balance changed by {amount_text(balance_change)} cr, the rows by {entries_sum}.",
    )
    result.check(
        entries_sum == ledger.checkpoint_sum,
        "The stored sum since the first checkpoint differs from the rows.",
    )


def audit_charges(result: LedgerAudit, ledger: LedgerMirror) -> None:
    """Check that every charge has a debit of its cost; classify the remaining rows."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    spent = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    charges_sum, awaited_sum = (
        sum_credit_field(spent, "cost"),
        sum_credit_field(reconciliation.charges_awaiting_debit(ledger), "cost"),
    )
    parts = {
        "matched": IS_DEBIT & IS_MATCHED,
        "imported": IS_DEBIT & ~IS_MATCHED & ~IS_UNEXPLAINED,
        "api": IS_OUTSIDE & Q(via_api=True),
        "web": IS_OUTSIDE & Q(via_api=False),
        "unread": IS_OUTSIDE & Q(via_api__isnull=True),
        "refunded": IS_CREDIT & IS_MATCHED,
        "credited": IS_CREDIT & ~IS_MATCHED,
    }
    sums = rows.aggregate(
        **{name: reconciliation.conditional_credit_sum("amount", q) for name, q in parts.items()}
    )
    sums = {name: amount or ZERO_CREDITS for name, amount in sums.items()}
    total = sum_credit_field(rows)
    result.lines += [
        ("Σ rows", total),
        ("Σ charges", charges_sum),
        ("recent charges whose debit is awaited", awaited_sum),
        ("debits matched to charges", sums["matched"]),
        ("debits of imported videos", sums["imported"]),
        ("debits outside the portal, by the API", sums["api"]),
        ("debits outside the portal, elsewhere", sums["web"]),
        ("debits not yet attributed to API or web", sums["unread"]),
        ("refunds", sums["refunded"]),
        ("top-ups and grants", sums["credited"]),
    ]
    result.check(total == sum(sums.values()), "The rows and their parts do not add up.")
    result.check(
        charges_sum - awaited_sum == -sums["matched"], "Charges and their debits do not add up."
    )
    matched = rows.filter(IS_DEBIT, IS_MATCHED)
    if count := matched.exclude(amount=-F("charge__cost")).count():
        result.problems.append(f"{count} debits differ from the cost of their charge.")
    for charge in reconciliation.charges_missing_debit(ledger).order_by("sent_at"):
        result.problems.append(
            f"{amount_text(charge.cost or ZERO_CREDITS)} cr were reported for {charge.operation}, "
            "but no ledger row matches."
        )
    unknown = Charge.objects.filter(account_id=ledger.pk, state=ChargeState.UNKNOWN).count()
    result.lines.append(("charges with an unknown outcome", unknown))


def audit_stored_sums(result: LedgerAudit, account: Account) -> None:
    """Check every table of stored sums against the rows."""
    rows = LedgerEntry.objects.filter(account=account)
    total, matched = (
        sum_credit_field(rows),
        sum_credit_field(rows.filter(IS_DEBIT, ~IS_UNEXPLAINED)),
    )
    for table in SUM_TABLES:
        stored, name = table._default_manager.filter(account=account), table._meta.verbose_name
        result.check(
            sum_credit_field(stored) == total, f"The sums in “{name}” differ from the rows."
        )
        debits = stored.filter(is_matched=True, is_credit=False)
        result.check(
            sum_credit_field(debits) == matched, f"The sums in “{name}” do not know every match."
        )
    price_counts = MonthlyPriceCount.objects.filter(account=account)
    counted_sum = price_counts.annotate(all=F("cost") * F("times")).aggregate(sum=CreditSum("all"))[
        "sum"
    ]
    charges = Charge.objects.filter(
        account=account, state__in=CHARGED_STATES, refunded_at__isnull=True
    )
    result.check(
        (counted_sum or ZERO_CREDITS) == sum_credit_field(charges, "cost"),
        "The counts of costs are not those of charges.",
    )


def sum_credit_field(rows: QuerySet[Any], field: str = "amount") -> Decimal:
    return rows.aggregate(sum=CreditSum(field))["sum"] or ZERO_CREDITS
