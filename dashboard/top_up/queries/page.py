"""The top-up page of an account: status, incoming credits and the history of changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from dashboard.shared.account_tabs import AccountTab, build_account_tabs
from dashboard.top_up.queries.state import ARRIVALS_WINDOW, TopUpFacts
from proxyapi.models import CreditPack, TopUpChange, TopUpChangeState
from proxyapi.top_up import TopUpSetting, is_top_up_entry

TOP_UP_PAGE_NOTE = (
    "A setting of the shared account. Treasurers and owners can change it. Every change is "
    "recorded."
)
MAX_ARRIVALS_SHOWN = 10
MAX_TOP_UP_HISTORY_ROWS = 20
CHANGE_STATE_LABELS = {
    TopUpChangeState.ASKED: ("waiting", "Saving"),
    TopUpChangeState.SENDING: ("running", "Saving"),
    TopUpChangeState.UNKNOWN: ("unknown", "Not known yet"),
    TopUpChangeState.SAVED: ("completed", "Saved"),
    TopUpChangeState.REFUSED: ("failed", "Not saved"),
}


@dataclass(frozen=True, slots=True)
class TopUpPage:
    account_id: UUID
    name: str
    note: str
    tabs: tuple[AccountTab, ...]
    packs: Sequence[CreditPack]
    arrivals: tuple[CreditArrival, ...]
    history: tuple[TopUpHistoryRow, ...]


def build_top_up_page(facts: TopUpFacts) -> TopUpPage:
    """No queries."""
    return TopUpPage(
        account_id=facts.account.pk,
        name=facts.account.label,
        note=TOP_UP_PAGE_NOTE,
        tabs=build_account_tabs("top-up", facts.accounts, facts.account),
        packs=facts.packs,
        arrivals=build_credit_arrivals(facts),
        history=build_top_up_history(facts),
    )


@dataclass(frozen=True, slots=True)
class CreditArrival:
    """`source` is the origin of the information. A failed top-up has no credits."""

    at: datetime
    what: str
    source: str
    credits: Decimal | None


def build_credit_arrivals(facts: TopUpFacts) -> tuple[CreditArrival, ...]:
    """Newest first."""
    arrivals = [
        CreditArrival(
            row.happened_at,
            row.label or row.content_type or "Credits",
            "Ledger, by its label" if is_top_up_entry(row) else "Ledger",
            row.amount,
        )
        for row in facts.credit_entries[:MAX_ARRIVALS_SHOWN]
    ]
    failed_at = facts.row.failure_seen_at
    if failed_at and failed_at >= facts.now - ARRIVALS_WINDOW:
        source = "The failure count increased; it failed before this time"
        arrivals.append(CreditArrival(failed_at, "Automatic top-up failed", source, None))
    return tuple(
        sorted(arrivals, key=lambda arrival: arrival.at, reverse=True)[:MAX_ARRIVALS_SHOWN]
    )


@dataclass(frozen=True, slots=True)
class TopUpHistoryRow:
    """`state` and `word` are those of the status pill; `why` is the reason if it was not saved."""

    at: datetime
    who: str
    before: str
    after: str
    state: str
    word: str
    why: str


def build_top_up_history(facts: TopUpFacts) -> tuple[TopUpHistoryRow, ...]:
    """Newest first. No queries."""
    return tuple(
        build_top_up_history_row(change) for change in facts.changes[:MAX_TOP_UP_HISTORY_ROWS]
    )


def build_top_up_history_row(change: TopUpChange) -> TopUpHistoryRow:
    state, word = CHANGE_STATE_LABELS[TopUpChangeState(change.state)]
    is_refused = change.state == TopUpChangeState.REFUSED
    before = TopUpSetting.from_mapping(change.seen)
    after = TopUpSetting.from_mapping(change.wanted).applied_to(before)
    return TopUpHistoryRow(
        at=change.requested_at,
        who=str(change.member),
        before=before.describe(),
        after=after.describe(),
        state=state,
        word=word,
        why=change.reason.removeprefix("Not saved. ") if is_refused else "",
    )
