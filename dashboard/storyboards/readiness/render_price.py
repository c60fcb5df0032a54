"""The service's exact price of a render: known, asked for, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum

from django.utils import timezone

from dashboard.shared.storyboards.scene_states import SceneRow
from dashboard.storyboards.readiness.clip_orders import ClipOrders
from dashboard.storyboards.readiness.content import build_content
from proxyapi.models import Draft, Storyboard
from proxyapi.refusals import NotReady

QUOTE_TIMEOUT = timedelta(seconds=30)  # then it may be asked for again


class PriceState(StrEnum):
    KNOWN = "known"
    PENDING = "pending"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class RenderPrice:
    """`price` is in credits, and set only if it is of the storyboard as it is now."""

    state: PriceState
    price: Decimal | None = None
    as_of: datetime | None = None
    error: str = ""
    is_overdue: bool = False


def find_render_price(
    storyboard: Storyboard, rows: Sequence[SceneRow], orders: ClipOrders
) -> RenderPrice:
    """No query."""
    job = storyboard.copy
    draft = job.draft_or_none if job is not None else None
    if draft is None or not is_content_placed(storyboard, rows, draft):
        return RenderPrice(PriceState.NONE)
    if draft.quote_due_at is not None and not draft.quote_error:
        since = timezone.now() - (draft.estimate_as_of or draft.edited_at)
        return RenderPrice(PriceState.PENDING, is_overdue=since > QUOTE_TIMEOUT)
    if draft.quote_error:
        return RenderPrice(PriceState.NONE, error=draft.quote_error)
    if not is_estimate_current(draft, rows, orders):
        return RenderPrice(PriceState.NONE)
    return RenderPrice(PriceState.KNOWN, draft.estimate, draft.estimate_as_of)


def is_content_placed(storyboard: Storyboard, rows: Sequence[SceneRow], draft: Draft) -> bool:
    """Whether the copy is to contain exactly what the storyboard is now."""
    try:
        content = build_content(storyboard, [row.scene for row in rows], draft)
    except NotReady:
        return False
    return bool(draft.settings == content)


def is_estimate_current(draft: Draft, rows: Sequence[SceneRow], orders: ClipOrders) -> bool:
    """False if the storyboard or one of its clips changed after it was asked for: clips that were
    paid for may cost the render nothing. What an order cost may be known later and changes nothing.
    """
    if draft.estimate is None or draft.estimate_as_of is None:
        return False
    changes = [draft.edited_at]
    changes += [row.clip.finished_at for row in rows if row.clip and row.clip.finished_at]
    ends = (charge.applied_at or charge.settled_at for charge in orders.charges)
    changes += [end for end in ends if end]
    return max(changes) <= draft.estimate_as_of
