"""Who changed an account's top-up here: the audit log, each with what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dashboard.models import AuditEvent, Team
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


def build_top_up_history(team: Team, facts: TopUpFacts) -> tuple[TopUpHistoryRow, ...]:
    """The newest first. One query."""
    target = str(facts.account.pk)
    events = AuditEvent.objects.filter(team=team, action="top_up.change", target=target)
    rows = events.select_related("actor").order_by("-happened_at", "-pk")[:MAX_TOP_UP_HISTORY_ROWS]
    changes = {str(one.pk): one for one in facts.changes}
    return tuple(build_top_up_history_row(row, changes) for row in rows)


def build_top_up_history_row(
    row: AuditEvent, changes: Mapping[str, TopUpChange]
) -> TopUpHistoryRow:
    change = changes.get(str(row.details.get("change")))
    state, word = (
        CHANGE_STATE_LABELS[TopUpChangeState(change.state)] if change else ("unknown", "Not known")
    )
    refused = change is not None and change.state == TopUpChangeState.REFUSED
    return TopUpHistoryRow(
        at=row.happened_at,
        who=str(row.actor),
        before=logged_setting_text(row.details.get("before")),
        after=logged_setting_text(row.details.get("after")),
        state=state,
        word=word,
        why=change.reason.removeprefix("Not saved. ") if change and refused else "",
    )


def logged_setting_text(kept: Any) -> str:
    return TopUpSetting.from_mapping(kept).describe() if isinstance(kept, dict) else "not known"
