"""What it costs to have scenes written: the service lists no price, so about what a script costs;
what the last ones cost on the account."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dashboard.models import Membership
from dashboard.shared.budget_impact import BudgetImpact, build_budget_impact
from dashboard.shared.formatting import credits
from dashboard.shared.price_question import AmountRow
from proxyapi import pricing
from proxyapi.kinds import WRITING_OPERATION
from proxyapi.models import Account, Charge
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.refusals import CreditCheck

NO_LISTED_PRICE = "The service lists no price for it; a script costs {price} cr."
LAST_WAS_FREE = "The last one on this account was free."
LAST_COST = "The last one on this account cost {cost} cr."


@dataclass(frozen=True, slots=True)
class WritingPrice:
    """Amounts are credits. `note` says how the price is known."""

    price: Decimal
    credit_check: CreditCheck
    budget: BudgetImpact | None
    note: str

    @property
    def rows(self) -> tuple[AmountRow, ...]:
        hold, available, _ = self.credit_check
        rows = [AmountRow("Held until the answer", hold, "held")]
        if self.budget is not None and not self.budget.refusal:
            rows.append(AmountRow("Left of the budget, at least", self.budget.after, is_total=True))
        elif self.budget is not None:
            rows.append(AmountRow(self.budget.label, self.budget.left, note=self.budget.note))
        elif available >= hold:
            left = AmountRow("Left on the account, at least", available - hold, is_total=True)
            rows.append(left)
        return tuple(rows)


def build_writing_price(account: Account, reader: Membership) -> WritingPrice:
    """At most eight queries, five of them for budgets."""
    price = pricing.script_credits(account)
    hold = pricing.hold_for_operation(WRITING_OPERATION, price)
    return WritingPrice(
        price=price,
        credit_check=account.check_credits(hold),
        budget=build_budget_impact(reader, hold),
        note=price_note(account, price),
    )


def price_note(account: Account, price: Decimal) -> str:
    charges = Charge.objects.filter(
        account=account, operation=WRITING_OPERATION, state__in=CHARGED_STATES, cost__isnull=False
    )
    last = charges.order_by("-settled_at").values_list("cost", flat=True).first()
    listed = NO_LISTED_PRICE.format(price=credits(price))
    if last is None:
        return listed
    return f"{listed} {LAST_COST.format(cost=credits(last)) if last else LAST_WAS_FREE}"
