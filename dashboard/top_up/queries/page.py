"""The whole page of an account's top-up: what is known, what came, who changed what."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.top_up.queries.credit_packs import CreditPackRow, build_credit_pack_rows
from dashboard.top_up.queries.history import TopUpHistoryRow, build_top_up_history
from dashboard.top_up.queries.page_data import TopUpFacts
from dashboard.top_up.queries.received_credits import CreditArrival, build_credit_arrivals

TOP_UP_PAGE_NOTE = (
    "A setting of the shared account. Treasurers and the owner may change it; "
    "every change is recorded."
)


@dataclass(frozen=True, slots=True)
class TopUpPage:
    account_id: UUID
    name: str
    note: str
    tabs: tuple[AccountTab, ...]
    packs: tuple[CreditPackRow, ...]
    arrivals: tuple[CreditArrival, ...]
    history: tuple[TopUpHistoryRow, ...]


def build_top_up_page(facts: TopUpFacts) -> TopUpPage:
    """No query."""
    return TopUpPage(
        account_id=facts.account.pk,
        name=facts.account.label,
        note=TOP_UP_PAGE_NOTE,
        tabs=build_account_tabs("top-up", facts.accounts, facts.account),
        packs=build_credit_pack_rows(facts),
        arrivals=build_credit_arrivals(facts),
        history=build_top_up_history(facts),
    )
