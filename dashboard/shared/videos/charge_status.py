"""Texts about charges by state, in each length: one table for all pages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.videos.labels import operation_label
from dashboard.shared.videos.refund_alerts import refund_alert_text
from proxyapi.models import Charge, ChargeState
from proxyapi.models.charge import MATCH_REMOVED_CODE, MAX_CHARGE_CRASHES
from proxyapi.operations import SCRIPT_OPERATIONS, SIDE_OPERATIONS, get_operation
from proxyapi.upstream.errors import CHARGE_CHECKED

SETTLEMENT_DEADLINE = timedelta(minutes=15)
APPROVERS_DECIDE_TEXT = "A treasurer or owner decides."
HOLD_TEXT = "{hold} cr are held until the exact price is known."


class ChargeTexts(NamedTuple):
    """`glyph` is the `data-state`, `label` is shown beside it, `note` explains the label; `summary`
    is a line or two, `detail` is the full text."""

    glyph: str
    label: str
    note: str
    summary: str
    detail: str


# Ordered by uncertainty: of several open charges, the first state here decides the video's.
CHARGE_TEXTS: Mapping[str, ChargeTexts] = {
    ChargeState.UNKNOWN: ChargeTexts(
        "unknown",
        "Unknown",
        "response lost",
        "Sent {since}, no response received. It was not sent again, and {hold} cr stay held until "
        "the outcome is known.",
        "We do not know whether {price} cr were spent. The {noun} was sent at {since} and the "
        "response was lost. It will not be sent again. {outcome}",
    ),
    ChargeState.SENDING: ChargeTexts(
        "running",
        "Sending",
        "no response yet",
        "",
        f"The {{noun}} is being sent to the service. {HOLD_TEXT}",
    ),
    ChargeState.HELD: ChargeTexts(
        "waiting",
        "Waiting",
        "not sent yet",
        "{hold} cr are held. It is sent next.",
        f"The {{noun}} is sent as soon as a worker is free. {HOLD_TEXT}",
    ),
    ChargeState.DRAFT: ChargeTexts(
        "waiting",
        "Waiting",
        "requested, not sent",
        f"{{hold}} cr were requested. {APPROVERS_DECIDE_TEXT}",
        "Not sent: it exceeds the budget. {hold} cr were requested at {since}. "
        f"{APPROVERS_DECIDE_TEXT} Nothing is held.",
    ),
}
# The service answered, but not in a way that proves that nothing was charged.
ANSWERED_TEXTS = ChargeTexts(
    "unknown",
    "Unknown",
    "being checked",
    "{reason} {hold} cr stay held until the outcome is known.",
    "{reason} It will not be sent again. {outcome}",
)
CHECKED_BEFORE_RETRY_TEXTS = ChargeTexts(
    "waiting", "Waiting", "being checked", "{reason}", f"{{reason}} {HOLD_TEXT}"
)
# The service writes the script while the call waits.
WRITING_SCRIPT_TEXTS = CHARGE_TEXTS[ChargeState.SENDING]._replace(
    label="Writing", detail=f"The service is writing the script. {HOLD_TEXT}"
)

COST_PENDING_TEXT = "It was done. What it cost is read from the ledger."
COST_PENDING_TEXTS = ChargeTexts(
    "completed", "Done", "cost pending", COST_PENDING_TEXT, COST_PENDING_TEXT
)


def open_charge_texts(charge: Charge, now: datetime, pause_reason: str) -> ChargeTexts:
    """Return the filled-in texts of an open charge. `pause_reason` says why its account is not read
    now."""
    row = charge_label(charge)
    if charge.state == ChargeState.HELD and charge.reason:
        row = row._replace(summary="{reason}", detail=f"{{reason}} {HOLD_TEXT}")
    values = {
        "hold": credits(charge.hold),
        "price": credits(charge.price),
        "noun": operation_label(charge.operation),
        "since": clock(charge.sent_at or charge.created_at),
        "reason": charge.reason,
        "outcome": lost_answer_outcome(charge, now, pause_reason),
    }
    return row._replace(summary=row.summary.format(**values), detail=row.detail.format(**values))


def charge_label(charge: Charge) -> ChargeTexts:
    """Return the texts of an open charge with their placeholders; use glyph, label and note."""
    if charge.state == ChargeState.SENDING and charge.operation in SCRIPT_OPERATIONS:
        return WRITING_SCRIPT_TEXTS
    if charge.state == ChargeState.UNKNOWN and charge.applied_at:
        return COST_PENDING_TEXTS
    if charge.is_checked_before_retry:
        return CHECKED_BEFORE_RETRY_TEXTS
    return ANSWERED_TEXTS if is_answer_checked(charge) else CHARGE_TEXTS[charge.state]


def is_answer_checked(charge: Charge) -> bool:
    """Whether an answer came that does not prove that nothing was charged."""
    is_named = CHARGE_CHECKED in charge.reason or charge.is_checked_before_retry
    return charge.state == ChargeState.UNKNOWN and is_named


def lost_answer_outcome(charge: Charge, now: datetime, pause_reason: str) -> str:
    """Return who decides about a charge whose answer was lost, and when."""
    if pause_reason:
        return f"The outcome is checked later. {pause_reason}"
    if charge.code == MATCH_REMOVED_CODE:
        return f"A member removed its match with a debit. {APPROVERS_DECIDE_TEXT}"
    if is_long_unknown(charge, now):
        return f"No ledger entry matches with certainty. {APPROVERS_DECIDE_TEXT}"
    until = clock((charge.sent_at or charge.created_at) + SETTLEMENT_DEADLINE)
    return f"The ledger shows whether it was charged, at the latest by {until}."


def is_long_unknown(charge: Charge, now: datetime) -> bool:
    """True if the outcome is unknown past the deadline, or only a person decides."""
    since = charge.sent_at or charge.created_at
    stopped = charge.failures >= MAX_CHARGE_CRASHES or charge.code == MATCH_REMOVED_CODE
    return charge.state == ChargeState.UNKNOWN and (stopped or now >= since + SETTLEMENT_DEADLINE)


def select_open_charge(charges: Iterable[Charge]) -> Charge | None:
    """Return the open charge that decides what the video shows; None if all are settled. Those of
    its parts and scenes decide nothing, nor those that were done and wait for their cost: the video
    stays as it is."""
    states = list(CHARGE_TEXTS)
    open_charges = (
        charge
        for charge in charges
        if charge.is_open
        and charge.operation not in SIDE_OPERATIONS
        and not (charge.state == ChargeState.UNKNOWN and charge.applied_at)
    )
    return min(open_charges, key=lambda charge: states.index(charge.state), default=None)


class RefundTexts(NamedTuple):
    """Whether the credits of a failed run are refunded: in two words, as a clause, as a
    sentence."""

    short: str
    clause: str
    sentence: str


REFUND_EXPECTED = RefundTexts(
    "Refund expected.",
    "the service refunds them automatically",
    "The service refunds this automatically. Not refunded yet.",
)
REFUND_OWED_TEXT = "Refund owed {cost} cr, not seen in the ledger yet, {age}."
REFUND_OWED_CLAUSE = "the service owes them back, not seen in the ledger yet, {age}"
MINUTE = timedelta(minutes=1)
# The spec promises one for a clip only; that is no promise that there is none.
NO_REFUND_SEEN = RefundTexts(
    "No refund seen.",
    "no refund has been seen in the ledger",
    "No refund has been seen in the ledger.",
)


def refund_texts(charge: Charge, now: datetime | None = None) -> RefundTexts:
    """Return the texts as of `now`; a refund that is owed says since when it did not come."""
    cost = credits(charge.cost)
    if charge.refunded_at is not None:
        at = clock(charge.refunded_at)
        came = f"they were refunded, ledger {at}"
        return RefundTexts(f"All {cost} cr came back at {at}.", came, "Refunded by the service.")
    operation = get_operation(charge.operation)
    if not operation.refundable:
        return NO_REFUND_SEEN
    if charge.refund_owed_at is None or now is None:
        return REFUND_EXPECTED
    age = minutes_text(now - charge.refund_owed_at)
    told = refund_alert_text(charge)
    sentence = f"{REFUND_OWED_TEXT.format(cost=cost, age=age)} {told}".rstrip()
    clause = f"{REFUND_OWED_CLAUSE.format(age=age)}{f'. {told}' if told else ''}"
    return RefundTexts(sentence, clause.removesuffix("."), sentence)


def minutes_text(age: timedelta) -> str:
    """Return an age, without seconds from one minute on: a page gets another one when the ledger
    was read."""
    return duration(age if age < timedelta(minutes=1) else timedelta(minutes=age // MINUTE))
