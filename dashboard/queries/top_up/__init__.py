"""The page of one account's automatic top-up."""

from __future__ import annotations

from dashboard.queries.top_up.arrivals import CreditArrival, build_credit_arrivals
from dashboard.queries.top_up.confirm import TopUpConfirmation, build_top_up_confirmation
from dashboard.queries.top_up.facts import TopUpFacts, displayed_setting, load_top_up_facts
from dashboard.queries.top_up.history import TopUpHistoryRow, build_top_up_history
from dashboard.queries.top_up.packs import CreditPackRow
from dashboard.queries.top_up.page import TopUpPage, build_top_up_page
from dashboard.queries.top_up.state import TopUpStatus, build_top_up_status, setting_digest
from dashboard.queries.top_up.what_if import UNFINISHED_WHAT_IF, TopUpWhatIf, build_what_if

__all__ = [
    "UNFINISHED_WHAT_IF",
    "CreditArrival",
    "CreditPackRow",
    "TopUpConfirmation",
    "TopUpFacts",
    "TopUpHistoryRow",
    "TopUpPage",
    "TopUpStatus",
    "TopUpWhatIf",
    "build_credit_arrivals",
    "build_top_up_confirmation",
    "build_top_up_history",
    "build_top_up_page",
    "build_top_up_status",
    "build_what_if",
    "displayed_setting",
    "load_top_up_facts",
    "setting_digest",
]
