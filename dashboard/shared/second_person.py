"""The rule that a charge above an amount of credits needs a second person.

The amount stands on the team's row. Each charge locks that row before the budgets and the account,
so the rule that a charge was admitted under is the one that holds when it is committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from dashboard.models import Membership, Team
from dashboard.shared.budget_usage import ApprovalRequired, approver_hint
from proxyapi.refusals import SpendingLimit, format_credits

SECOND_PERSON_KEY = "second person"
MIN_APPROVERS = 2  # nobody approves their own request
WITHOUT_SECOND_PERSON = "One person may charge at once"


class SecondPersonRequired(ApprovalRequired):
    """The hold is above what one person may charge, whatever the budgets leave."""

    is_for_scripts = True

    def __init__(self, needed: Decimal, above: Decimal, approvers: Sequence[str]) -> None:
        super().__init__(
            f"It needs {format_credits(needed)} cr, and {rule_sentence(above)} Request approval. "
            f"{approver_hint(approvers)}"
        )


def rule_sentence(above: Decimal) -> str:
    return f"charges above {format_credits(above)} cr need a second person."


def lock_second_person_rule(team_id: UUID) -> Decimal | None:
    """Return the amount of the rule, None without one, and keep it until the transaction ends."""
    rows = Team.objects.select_for_update(no_key=True)
    return rows.values_list("second_person_above", flat=True).get(pk=team_id)


def second_person_limits(above: Decimal | None) -> list[SpendingLimit]:
    return [] if above is None else [SpendingLimit(SECOND_PERSON_KEY, above)]


def current_rule(reader: Membership) -> Decimal | None:
    """Return the amount of the rule as it is now, without a lock."""
    rows = Team.objects.filter(pk=reader.team_id)
    return rows.values_list("second_person_above", flat=True).get()
