"""Who changed an account's top-up here, and what became of each change."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dashboard.top_up.queries.page_data import TopUpFacts
from proxyapi.models import TopUpChange, TopUpChangeState
from proxyapi.top_up import TopUpSetting

MAX_TOP_UP_HISTORY_ROWS = 20
CHANGE_STATE_LABELS = {
    TopUpChangeState.ASKED: ("waiting", "Saving"),
    TopUpChangeState.SENDING: ("running", "Saving"),
    TopUpChangeState.UNKNOWN: ("unknown", "Not known yet"),
    TopUpChangeState.SAVED: ("completed", "Saved"),
    TopUpChangeState.REFUSED: ("failed", "Not saved"),
}


@dataclass(frozen=True, slots=True)
class TopUpHistoryRow:
    """`state`, `word`: of a pill. `why`: where it was not saved."""

    at: datetime
    who: str
    before: str
    after: str
    state: str
    word: str
    why: str


def build_top_up_history(facts: TopUpFacts) -> tuple[TopUpHistoryRow, ...]:
    """The newest first. No query."""
    return tuple(build_top_up_history_row(it) for it in facts.changes[:MAX_TOP_UP_HISTORY_ROWS])


def build_top_up_history_row(change: TopUpChange) -> TopUpHistoryRow:
    state, word = CHANGE_STATE_LABELS[TopUpChangeState(change.state)]
    refused = change.state == TopUpChangeState.REFUSED
    before = TopUpSetting.from_mapping(change.seen)
    after = TopUpSetting.from_mapping(change.wanted).applied_to(before)
    return TopUpHistoryRow(
        at=change.asked_at,
        who=str(change.member),
        before=before.describe(),
        after=after.describe(),
        state=state,
        word=word,
        why=change.reason.removeprefix("Not saved. ") if refused else "",
    )
