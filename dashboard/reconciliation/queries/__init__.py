"""Queries of the reconciliation page: balance, ledger and charges compared, and the possible
actions."""

from __future__ import annotations

from dashboard.reconciliation.queries.decision_dialogs import (
    accepted_conflicts_text,
    build_all_conflicts_question,
    build_conflict_question,
    build_match_dialog,
    build_match_removal_question,
    build_rebase_dialog,
    build_write_off_question,
)
from dashboard.reconciliation.queries.page import (
    ReconciliationPage,
    build_reconciliation_page,
    load_accepted_differences,
    reconciliation_url,
)
