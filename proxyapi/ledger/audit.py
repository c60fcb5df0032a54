"""The audit of one account, from its rows alone: nothing here trusts a sum that was kept."""

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
from proxyapi.rollups.daily_totals import DAILY_TABLES, CreditSum

ZERO_CREDITS = Decimal(0)
SUM_TABLES: tuple[type[Model], ...] = (*DAILY_TABLES, MonthlyTotalByOperation)
IS_DEBIT, IS_CREDIT = Q(amount__lt=0), Q(amount__gt=0)
IS_MATCHED = Q(charge__isnull=False)


@dataclass(slots=True)
class LedgerAudit:
    """`lines` are named sums, `problems` sentences; no problem means that all of it agrees."""

    lines: list[tuple[str, Decimal | int | None]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def check(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)


def audit_account(account: Account) -> LedgerAudit:
    """Balance against rows, rows against charges, kept sums against rows."""
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
    held, span = rows.count(), ledger.high - ledger.low
    result.lines += [("rows the service has", ledger.total), ("rows mirrored", held)]
    result.check(not ledger.problem, ledger.problem)
    result.check(ledger.low == 0, f"{ledger.low} older rows are still to be read.")
    result.check(held == span, f"{held} rows are there, {span} positions are.")
    result.check(ledger.high == ledger.total, "The mirror ends before the ledger does.")
    troubled = rows.exclude(trouble="").count()
    result.check(not troubled, f"{troubled} rows cannot be read.")


def audit_balance(result: LedgerAudit, ledger: LedgerMirror) -> None:
    if ledger.balance_exact is None or ledger.anchor_balance is None:
        result.problems.append("Its balance was never weighed.")
        return
    low, high = ledger.anchor_high or 0, ledger.checkpoint_high or 0
    moved = ledger.balance_exact - ledger.anchor_balance
    rows = balance_checkpoint.sum_positions(ledger, low, high)
    result.lines += [
        ("balance, exact", ledger.balance_exact),
        (f"Δ balance since row {low}", moved),
        (f"Σ rows after it, up to row {high}", rows),
    ]
    result.check(
        moved == rows, f"The balance moved by {amount_text(moved)} cr, the rows by {rows}."
    )
    result.check(
        rows == ledger.checkpoint_sum, "The sum kept since the anchor is not that of rows."
    )


def audit_charges(result: LedgerAudit, ledger: LedgerMirror) -> None:
    """Every charge has its debit, of its cost; the rest of the rows is named for what it is."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    spent = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    charged, awaited = (
        sum_credit_field(spent, "cost"),
        sum_credit_field(reconciliation.charges_awaiting_debit(ledger), "cost"),
    )
    parts = {
        "matched": IS_DEBIT & IS_MATCHED,
        "api": IS_DEBIT & ~IS_MATCHED & Q(via_api=True),
        "web": IS_DEBIT & ~IS_MATCHED & Q(via_api=False),
        "unread": IS_DEBIT & ~IS_MATCHED & Q(via_api__isnull=True),
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
        ("Σ charges", charged),
        ("charges of just now, whose debit is awaited", awaited),
        ("debits matched to charges", sums["matched"]),
        ("debits outside the portal, by the API", sums["api"]),
        ("debits outside the portal, elsewhere", sums["web"]),
        ("debits not known to be of the API or not", sums["unread"]),
        ("refunds", sums["refunded"]),
        ("top-ups and grants", sums["credited"]),
    ]
    result.check(total == sum(sums.values()), "The rows and their parts do not add up.")
    result.check(charged - awaited == -sums["matched"], "Charges and their debits do not add up.")
    if unlike := rows.filter(IS_DEBIT, IS_MATCHED).exclude(amount=-F("charge__cost")).count():
        result.problems.append(f"{unlike} debits are not what their charges cost.")
    for charge in reconciliation.charges_missing_debit(ledger).order_by("sent_at"):
        result.problems.append(
            f"{amount_text(charge.cost or ZERO_CREDITS)} cr were reported for {charge.operation}, "
            "but no ledger row matches."
        )
    unknown = Charge.objects.filter(account_id=ledger.pk, state=ChargeState.UNKNOWN).count()
    result.lines.append(("charges whose outcome is not known", unknown))


def audit_stored_sums(result: LedgerAudit, account: Account) -> None:
    """Every table of sums that a page is made from says the same as the rows."""
    rows = LedgerEntry.objects.filter(account=account)
    total, matched = sum_credit_field(rows), sum_credit_field(rows.filter(IS_DEBIT, IS_MATCHED))
    for table in SUM_TABLES:
        kept, name = table._default_manager.filter(account=account), table._meta.verbose_name
        result.check(
            sum_credit_field(kept) == total, f"The sums in “{name}” are not those of the rows."
        )
        debits = kept.filter(is_matched=True, is_credit=False)
        result.check(
            sum_credit_field(debits) == matched, f"The sums in “{name}” do not know every match."
        )
    counted = MonthlyPriceCount.objects.filter(account=account)
    paid = counted.annotate(all=F("cost") * F("times")).aggregate(sum=CreditSum("all"))["sum"]
    told = Charge.objects.filter(
        account=account, state__in=CHARGED_STATES, refunded_at__isnull=True
    )
    result.check(
        (paid or ZERO_CREDITS) == sum_credit_field(told, "cost"),
        "The counts of costs are not those of charges.",
    )


def sum_credit_field(rows: QuerySet[Any], field: str = "amount") -> Decimal:
    return rows.aggregate(sum=CreditSum(field))["sum"] or ZERO_CREDITS
