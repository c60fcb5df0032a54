"""The state of one scene: its image as last read, and the last charge for another one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from dashboard.shared.formatting import clock, credits
from dashboard.shared.videos.charge_status import (
    SETTLEMENT_DEADLINE,
    is_long_unknown,
)
from dashboard.shared.videos.cost import (
    FREE_AMOUNT,
    CreditAmount,
    charge_amount,
    spent_credits,
)
from dashboard.shared.videos.labels import quote_text
from proxyapi.models import Charge, ChargeState, JobPart
from proxyapi.models.job_part import PartState

REFUSAL_SHOWN_FOR = timedelta(days=1)
SENDING_TEXT = "Being made"
WAITING_TEXT = "Sent next"
APPROVAL_TEXT = "{price} cr were requested. A treasurer or owner decides."
NOT_CHARGED_NOTE, KEPT_NOTE = "Nothing was charged.", "The image is as it was."
COST_PENDING_TEXT = "Done. What it cost is read from the ledger."
UNKNOWN_TEXT = (
    "Sent {since}, no response received. It was not sent again{hold} until the ledger shows the "
    "outcome{until}."
)


@dataclass(frozen=True, slots=True)
class SceneStatus:
    """`name` is the `data-state`; `since` is set while a request is in progress; `quote` has the
    service's words; `changed_count` grows with each new image."""

    name: str
    cost: CreditAmount | None = None
    text: str = ""
    quote: str = ""
    note: str = ""
    since: datetime | None = None
    is_open: bool = False
    changed_count: int = 0


def build_scene_status(part: JobPart, charges: Sequence[Charge], now: datetime) -> SceneStatus:
    """`charges` are those of this scene, oldest first."""
    applied = sum(charge.applied_at is not None for charge in charges)
    spent = spent_credits(charges)
    is_charged = any(charge.is_charged for charge in charges)
    cost = (CreditAmount(spent) if spent else FREE_AMOUNT) if is_charged else None
    last = charges[-1] if charges else None
    if last is not None and last.is_open:
        return open_status(last, cost, applied, now)
    if part.state == PartState.FAILED:
        return SceneStatus(
            "failed",
            cost,
            quote=quote_text(part.failure_message or "The service gave no reason."),
            note=failed_note(last),
            changed_count=applied,
        )
    if last is not None and last.state == ChargeState.REFUSED and is_recent(last, now):
        return SceneStatus(
            "failed",
            cost or CreditAmount(charge_amount(last).value),
            quote=last.reason,
            note=KEPT_NOTE if last.is_assumed_uncharged else f"{NOT_CHARGED_NOTE} {KEPT_NOTE}",
            changed_count=applied,
        )
    name = "running" if part.state == PartState.RUNNING else "completed"
    return SceneStatus(name, cost, changed_count=applied)


def open_status(
    last: Charge, cost: CreditAmount | None, applied: int, now: datetime
) -> SceneStatus:
    held = charge_amount(last) if last.hold else FREE_AMOUNT
    if last.state == ChargeState.UNKNOWN and last.applied_at is None:
        return SceneStatus(
            "unknown", held, text=unknown_text(last, now), is_open=True, changed_count=applied
        )
    if last.state == ChargeState.UNKNOWN:
        return SceneStatus(
            "completed", cost, text=COST_PENDING_TEXT, is_open=True, changed_count=applied
        )
    if last.state == ChargeState.DRAFT:
        text = APPROVAL_TEXT.format(price=credits(last.price))
        return SceneStatus("waiting", held, text=text, is_open=True, changed_count=applied)
    is_sending = last.state == ChargeState.SENDING
    return SceneStatus(
        "running",
        held,
        text=SENDING_TEXT if is_sending else last.reason or WAITING_TEXT,
        since=last.sent_at if is_sending else last.created_at,
        is_open=True,
        changed_count=applied,
    )


def unknown_text(charge: Charge, now: datetime) -> str:
    sent = charge.sent_at or charge.created_at
    hold = f", and {credits(charge.hold)} cr stay held" if charge.hold else ""
    is_late = is_long_unknown(charge, now)
    until = "" if is_late else f", at the latest by {clock(sent + SETTLEMENT_DEADLINE)}"
    return UNKNOWN_TEXT.format(since=clock(sent), hold=hold, until=until)


def failed_note(last: Charge | None) -> str:
    if last is None or not last.cost:
        return "The scene keeps its image."
    charged = f"{credits(last.cost)} cr were charged"
    refund = "refunded" if last.refunded_at else "no refund seen"
    return f"{charged}, {refund}. The scene keeps its image."


def is_recent(charge: Charge, now: datetime) -> bool:
    return now - (charge.settled_at or charge.created_at) < REFUSAL_SHOWN_FOR
