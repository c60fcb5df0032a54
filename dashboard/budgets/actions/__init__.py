"""Actions on budgets, on the second-person rule and on approval requests."""

from __future__ import annotations

from dashboard.budgets.actions.approvals import (
    approve_request,
    decline_request,
    withdraw_request,
)
from dashboard.budgets.actions.budgets import (
    BUDGET_CHANGED_MEANWHILE,
    LIMIT_FIELDS,
    add_budget,
    change_budget,
    end_budget,
)
from dashboard.budgets.actions.comments import add_approval_comment
from dashboard.budgets.actions.new_members import set_new_member_budget
from dashboard.budgets.actions.raises import end_due_raises, end_raise, raise_budget
from dashboard.budgets.actions.second_person import set_second_person_rule
