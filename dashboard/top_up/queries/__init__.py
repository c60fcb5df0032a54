"""Queries of the top-up page of one account."""

from __future__ import annotations

from dashboard.top_up.queries.confirmation import (
    load_top_up_confirmation,
    unusual_credits_per_top_up,
)
from dashboard.top_up.queries.page import (
    CreditArrival,
    TopUpHistoryRow,
    TopUpPage,
    build_credit_arrivals,
    build_top_up_history,
    build_top_up_page,
)
from dashboard.top_up.queries.state import (
    TopUpFacts,
    TopUpStatus,
    build_top_up_status,
    displayed_setting,
    load_top_up_facts,
    setting_digest,
)
from dashboard.top_up.queries.what_if import UNFINISHED_WHAT_IF, TopUpWhatIf, build_what_if
