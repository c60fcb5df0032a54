"""The audit of one account, from its rows alone: nothing here trusts a sum that was kept."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.db.models import F, Model, Q, QuerySet

from proxyapi.ledger import differences, weighing
from proxyapi.ledger.books import part
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

NOTHING = Decimal(0)
SUMS: tuple[type[Model], ...] = (*DAILY_TABLES, MonthlyTotalByOperation)
DEBIT, CREDIT = Q(amount__lt=0), Q(amount__gt=0)
MATCHED = Q(charge__isnull=False)


@dataclass(slots=True)
class Audit:
    """`lines` are named sums, `problems` sentences; no problem means that all of it agrees."""

    lines: list[tuple[str, Decimal | int | None]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def check(self, holds: bool, problem: str) -> None:
        if not holds:
            self.problems.append(problem)


def audit(account: Account) -> Audit:
    """Balance against rows, rows against charges, kept sums against rows."""
    result, ledger = Audit(), LedgerMirror.objects.filter(pk=account.pk).first()
    if ledger is None or ledger.read_at is None:
        result.problems.append("Its ledger was never read.")
        return result
    of_rows(result, ledger)
    of_balance(result, ledger)
    of_charges(result, ledger)
    of_kept_sums(result, account)
    return result


def of_rows(result: Audit, ledger: LedgerMirror) -> None:
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    held, span = rows.count(), ledger.high - ledger.low
    result.lines += [("rows the service has", ledger.total), ("rows mirrored", held)]
    result.check(not ledger.problem, ledger.problem)
    result.check(ledger.low == 0, f"{ledger.low} older rows are still to be read.")
    result.check(held == span, f"{held} rows are there, {span} positions are.")
    result.check(ledger.high == ledger.total, "The mirror ends before the ledger does.")
    troubled = rows.exclude(trouble="").count()
    result.check(not troubled, f"{troubled} rows cannot be read.")


def of_balance(result: Audit, ledger: LedgerMirror) -> None:
    if ledger.balance_exact is None or ledger.anchor_balance is None:
        result.problems.append("Its balance was never weighed.")
        return
    low, high = ledger.anchor_high or 0, ledger.weighed_high or 0
    moved = ledger.balance_exact - ledger.anchor_balance
    rows = weighing.total(ledger, low, high)
    result.lines += [
        ("balance, exact", ledger.balance_exact),
        (f"Δ balance since row {low}", moved),
        (f"Σ rows after it, up to row {high}", rows),
    ]
    result.check(
        moved == rows, f"The balance moved by {amount_text(moved)} cr, the rows by {rows}."
    )
    result.check(rows == ledger.weighed_sum, "The sum kept since the anchor is not that of rows.")


def of_charges(result: Audit, ledger: LedgerMirror) -> None:
    """Every charge has its debit, of its cost; the rest of the rows is named for what it is."""
    rows = LedgerEntry.objects.filter(account_id=ledger.pk)
    spent = Charge.objects.filter(account_id=ledger.pk, state__in=CHARGED_STATES)
    charged, awaited = added_up(spent, "cost"), added_up(differences.awaited(ledger), "cost")
    parts = {
        "matched": DEBIT & MATCHED,
        "api": DEBIT & ~MATCHED & Q(via_api=True),
        "web": DEBIT & ~MATCHED & Q(via_api=False),
        "unread": DEBIT & ~MATCHED & Q(via_api__isnull=True),
        "refunded": CREDIT & MATCHED,
        "credited": CREDIT & ~MATCHED,
    }
    sums = rows.aggregate(**{name: part("amount", q) for name, q in parts.items()})
    sums = {name: amount or NOTHING for name, amount in sums.items()}
    total = added_up(rows)
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
    if unlike := rows.filter(DEBIT, MATCHED).exclude(amount=-F("charge__cost")).count():
        result.problems.append(f"{unlike} debits are not what their charges cost.")
    for one in differences.without_debit(ledger):
        result.problems.append(one.what)
    unknown = Charge.objects.filter(account_id=ledger.pk, state=ChargeState.UNKNOWN).count()
    result.lines.append(("charges whose outcome is not known", unknown))


def of_kept_sums(result: Audit, account: Account) -> None:
    """Every table of sums that a page is made from says the same as the rows."""
    rows = LedgerEntry.objects.filter(account=account)
    total, matched = added_up(rows), added_up(rows.filter(DEBIT, MATCHED))
    for table in SUMS:
        kept, name = table._default_manager.filter(account=account), table._meta.verbose_name
        result.check(added_up(kept) == total, f"The sums in “{name}” are not those of the rows.")
        debits = kept.filter(is_matched=True, is_credit=False)
        result.check(added_up(debits) == matched, f"The sums in “{name}” do not know every match.")
    counted = MonthlyPriceCount.objects.filter(account=account)
    paid = counted.annotate(all=F("cost") * F("times")).aggregate(sum=CreditSum("all"))["sum"]
    told = Charge.objects.filter(
        account=account, state__in=CHARGED_STATES, refunded_at__isnull=True
    )
    result.check(
        (paid or NOTHING) == added_up(told, "cost"), "The counts of costs are not those of charges."
    )


def added_up(rows: QuerySet[Any], field: str = "amount") -> Decimal:
    return rows.aggregate(sum=CreditSum(field))["sum"] or NOTHING
