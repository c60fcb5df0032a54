"""The orders of clips of one copy: which are open, and what the last one started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.shared.formatting import credits
from dashboard.shared.storyboards.scene_states import SceneRow, SceneState
from dashboard.storyboards.readiness.scene_numbers import list_scenes
from proxyapi.kinds import SCENE_CLIPS_OPERATION, STORYBOARD_RENDER_OPERATION
from proxyapi.models import Charge, ChargeState, Storyboard

REFUSAL_SHOWN_FOR = timedelta(days=1)
PARTLY_STARTED_TEXT = "{started} of {count} clips were started, {cost} of {price} cr charged."
SCENE_REFUSED_TEXT = " {scenes} {was} refused: {reason}"
NOT_STARTED_TEXT = " {scenes} {was} not started."


@dataclass(frozen=True, slots=True)
class ClipOrders:
    """`charges` are those for clips of the current copy, `renders` those for its film; the newest
    first."""

    charges: tuple[Charge, ...]
    renders: tuple[Charge, ...] = ()

    def last_for(self, scene_id: str) -> Charge | None:
        return next((it for it in self.charges if orders_scene(it, scene_id)), None)

    @property
    def awaiting_approval(self) -> Charge | None:
        return next((it for it in self.charges if it.state == ChargeState.DRAFT), None)

    @property
    def unknown(self) -> Charge | None:
        """The order whose answer was lost; one that was done only waits for its cost."""
        unknown = (it for it in self.charges if it.state == ChargeState.UNKNOWN)
        return next((it for it in unknown if it.applied_at is None), None)

    @property
    def refused_text(self) -> str:
        """Why the last request for clips was refused; empty if it was not, or a day ago."""
        return recent_refusal(self.charges)

    @property
    def refused_render_text(self) -> str:
        return recent_refusal(self.renders)

    def ordered_at(self, scene_id: str) -> datetime | None:
        charge = self.last_for(scene_id)
        return (charge.sent_at or charge.created_at) if charge else None


def load_clip_orders(storyboard: Storyboard) -> ClipOrders:
    """One query, none without a copy."""
    if storyboard.copy_id is None:
        return ClipOrders(())
    operations = (SCENE_CLIPS_OPERATION, STORYBOARD_RENDER_OPERATION)
    charges = Charge.objects.filter(job=storyboard.copy_id, operation__in=operations)
    rows = tuple(charges.select_related("member", "account").order_by("-created_at"))
    return ClipOrders(
        charges=tuple(row for row in rows if row.operation == SCENE_CLIPS_OPERATION),
        renders=tuple(row for row in rows if row.operation == STORYBOARD_RENDER_OPERATION),
    )


def recent_refusal(charges: Sequence[Charge]) -> str:
    last = charges[0] if charges else None
    if last is None or last.state != ChargeState.REFUSED:
        return ""
    ended_at = last.settled_at or last.created_at
    return last.reason if timezone.now() - ended_at < REFUSAL_SHOWN_FOR else ""


def orders_scene(charge: Charge, scene_id: str) -> bool:
    return scene_id in charge.body.get("scenes", ())


def partly_started_text(orders: ClipOrders, rows: Sequence[SceneRow]) -> str:
    """Return the sentence about an order that started some of its clips; empty if the last order
    started all or none of them, or the service has not shown its clips yet."""
    last = orders.charges[0] if orders.charges else None
    if last is None or not last.is_charged or last.applied_at is None or last.cost is None:
        return ""
    ordered = [row for row in rows if orders_scene(last, str(row.scene.pk))]
    # A scene that is ready or failed has a clip; one that was changed since says nothing.
    refused = [row for row in ordered if row.clip is None and row.state == SceneState.NO_CLIP]
    has_been_read = any(row.clip and row.clip.read_at >= last.applied_at for row in ordered)
    if not refused or len(refused) == len(ordered) or not has_been_read:
        return ""
    text = PARTLY_STARTED_TEXT.format(
        started=len(ordered) - len(refused),
        count=len(ordered),
        cost=credits(last.cost),
        price=credits(last.price),
    )
    scenes = list_scenes([row.number for row in refused])
    was = "was" if len(refused) == 1 else "were"
    if last.reason:
        return text + SCENE_REFUSED_TEXT.format(scenes=scenes, was=was, reason=last.reason)
    return text + NOT_STARTED_TEXT.format(scenes=scenes, was=was)
