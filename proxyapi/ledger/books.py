"""The books of one account: balance, ledger and charges held against each other.

    balance_exact - opening = entries = - matched - outside + refunded + other credits
    charged - matched = what charges took and the ledger does not show, or shows differently

Reads the database only, from the sums per day where rows would be too many.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import Case, DecimalField, F, Q, When

from proxyapi.ledger import differences, weighing
from proxyapi.ledger.differences import Difference
from proxyapi.models import Account, Charge, DailyTotal, LedgerMirror
from proxyapi.models.account import CREDIT_FIELD_OPTIONS
from proxyapi.models.charge import CHARGED_STATES, UNDECIDED_STATES
from proxyapi.rollups.daily_totals import CreditSum

NOTHING = Decimal(0)


@dataclass(frozen=True, slots=True)
class Books:
    """Credits are positive where they are spent (`charged`, `matched`, `outside`), else signed."""

    opening: Decimal | None  # the balance before the oldest mirrored row; None: not weighed yet
    entries: Decimal  # all mirrored rows
    newer: Decimal  # those of them that came after the balance was read
    balance_exact: Decimal | None
    as_of: datetime | None
    difference: Decimal  # balance_exact - opening - entries up to it
    charged: Decimal  # by charges that took credits
    matched: Decimal  # debits that have a charge
    outside: Decimal  # debits that have none
    refunded: Decimal  # credits that have a charge
    credited: Decimal  # the other credits: top-ups and grants
    unexplained: Decimal  # charged - matched
    refunds_owed: list[Charge]
    at_risk: Decimal  # held by charges whose outcome is not known
    is_whole: bool  # whether nothing older is missing
    differences: list[Difference]


def books(account: Account) -> Books:
    """The account's books as the database knows them now."""
    ledger = LedgerMirror.objects.filter(pk=account.pk).first() or LedgerMirror(account=account)
    debits, matched, credits, refunded = sums(account)
    entries, newer = debits + credits, newer_than_weighed(ledger)
    spent, at_risk = of_charges(account)
    owed = differences.refunds_owed(account)
    difference = differences.of_balance(ledger)
    return Books(
        opening=opening(ledger, entries - newer),
        entries=entries,
        newer=newer,
        balance_exact=ledger.balance_exact,
        as_of=ledger.weighed_at,
        difference=difference,
        charged=spent,
        matched=-matched,
        outside=matched - debits,
        refunded=refunded,
        credited=credits - refunded,
        unexplained=spent + matched,
        refunds_owed=owed,
        at_risk=at_risk,
        is_whole=ledger.is_complete,
        differences=differences.found(ledger, difference, owed),
    )


def sums(account: Account) -> tuple[Decimal, Decimal, Decimal, Decimal]:
    """All debits, the matched ones, all credits, the matched ones; signed."""
    debit, credit = Q(is_credit=False), Q(is_credit=True)
    wanted = (debit, debit & Q(is_matched=True), credit, credit & Q(is_matched=True))
    rows = DailyTotal.objects.filter(account=account)
    found = rows.aggregate(
        **{f"sum_{at}": part("amount", which) for at, which in enumerate(wanted)}
    )
    a, b, c, d = (found[f"sum_{at}"] or NOTHING for at in range(4))
    return a, b, c, d


def part(field: str, which: Q) -> CreditSum:
    """The sum of a field over some of the rows."""
    return CreditSum(
        Case(When(which, then=F(field)), output_field=DecimalField(**CREDIT_FIELD_OPTIONS))
    )


def of_charges(account: Account) -> tuple[Decimal, Decimal]:
    """What charges took, and what those of unknown outcome hold."""
    charges = Charge.objects.filter(account=account)
    spent = charges.filter(state__in=CHARGED_STATES).aggregate(sum=CreditSum("cost"))["sum"]
    at_risk = charges.filter(state__in=UNDECIDED_STATES).aggregate(sum=CreditSum("hold"))["sum"]
    return spent or NOTHING, at_risk or NOTHING


def newer_than_weighed(ledger: LedgerMirror) -> Decimal:
    if ledger.weighed_high is None:
        return NOTHING
    return weighing.total(ledger, ledger.weighed_high, ledger.high)


def opening(ledger: LedgerMirror, weighed: Decimal) -> Decimal | None:
    """The anchor's balance without the rows before it."""
    if ledger.anchor_balance is None or ledger.weighed_sum is None:
        return None
    return ledger.anchor_balance - (weighed - ledger.weighed_sum)
