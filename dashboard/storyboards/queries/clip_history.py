"""The clips of a scene, those of older copies and those that failed too: what each cost, who had it
made and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.clip_models import account_clip_models, find_clip_model
from dashboard.shared.formatting import credits
from dashboard.shared.storyboards.clip_prices import split_clip_cost
from dashboard.shared.storyboards.copy_clips import clip_shares
from dashboard.shared.video_options import account_options
from dashboard.shared.videos.charge_status import open_charge_texts
from dashboard.shared.videos.labels import quote_text
from dashboard.storyboards.readiness.clip_orders import orders_scene
from proxyapi.kinds import SCENE_CLIPS_OPERATION, scenes_by_id
from proxyapi.models import Charge, ChargeState, Job, JobPart, Storyboard, StoryboardScene
from proxyapi.models.job_part import EARLIER_CLIPS, SCENE_CLIPS, PartState

MAX_ORDERS = 200  # of a storyboard; older ones are left out
NO_REASON = "The service gave no reason."
NOT_REFUNDED = "The service promises no refund for a scene clip. None has come back."
APPROVAL_TEXT = "Waits for an approval."
ORDERED_TEXT = "Requested, not answered yet."


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """`state` is a glyph. `amount` are credits, of the kind `amount_kind` of `{% amount %}`."""

    state: str
    text: str
    note: str
    made_with: str
    at: datetime
    amount: Decimal | None
    amount_kind: str
    is_in_film: bool = False
    media_url: str = ""


@dataclass(frozen=True, slots=True)
class ClipHistory:
    number: int
    rows: tuple[HistoryRow, ...]
    made: int
    spent: Decimal

    @property
    def in_film(self) -> HistoryRow | None:
        """Return the clip that is in the film now."""
        return next((row for row in self.rows if row.is_in_film), None)

    @property
    def note(self) -> str:
        return f"{self.made} made, {credits(self.spent)} cr" if self.rows else ""


def load_clip_history(storyboard: Storyboard, scene: StoryboardScene) -> ClipHistory:
    """Three queries."""
    charges = Charge.objects.filter(
        job__storyboard_copy__storyboard=storyboard, operation=SCENE_CLIPS_OPERATION
    )
    related = charges.select_related("member", "job__draft", "account").order_by("-created_at")
    id = str(scene.pk)
    orders = [charge for charge in related[:MAX_ORDERS] if orders_scene(charge, id)]
    clips = load_ordered_clips(orders, id)
    rows = tuple(build_row(storyboard, charge, clips.get(charge.pk), id) for charge in orders)
    charged = [charge for charge in orders if charge.is_charged]
    costs = [scene_cost(charge, id) for charge in charged]
    return ClipHistory(
        number=scene.position,
        rows=rows,
        made=len(charged),
        spent=sum((cost for cost in costs if cost is not None), Decimal(0)),
    )


def load_ordered_clips(orders: Sequence[Charge], scene_id: str) -> dict[UUID, JobPart]:
    """Return the clip that each order made of the scene, also one that was replaced since. One
    query."""
    entries = {charge.job_id: sent_scene(charge.job, scene_id) for charge in orders}
    remote_ids = {job_id: str(it.get("remote_id", "")) for job_id, it in entries.items()}
    lists = (SCENE_CLIPS, EARLIER_CLIPS)
    parts = JobPart.objects.filter(charge__in=orders, list_name__in=lists).order_by("read_at")
    return {
        part.charge_id: part
        for part in parts
        if part.charge_id and remote_ids[part.job_id] == part.details.get("scene", part.remote_id)
    }


def sent_scene(job: Job | None, scene_id: str) -> Mapping[str, Any]:
    """Return the scene as this copy has it, or is to have it."""
    if job is None or job.draft_or_none is None:
        return {}
    sent = scenes_by_id(job.draft.sent_settings).get(scene_id)
    return sent or scenes_by_id(job.draft.settings).get(scene_id) or {}


def build_row(
    storyboard: Storyboard, charge: Charge, clip: JobPart | None, scene_id: str
) -> HistoryRow:
    scene = sent_scene(charge.job, scene_id)
    state, text, note = row_status(charge, clip, scene)
    cost = scene_cost(charge, scene_id)
    has_film = clip is not None and clip.state == PartState.COMPLETED
    return HistoryRow(
        state=state,
        text=text,
        note=note,
        made_with=made_with(charge, scene),
        at=charge.sent_at or charge.created_at,
        amount=cost,
        amount_kind=amount_kind(charge, cost),
        is_in_film=has_film and is_current_clip(storyboard, clip),
        media_url=reverse("part-media", args=[charge.job_id, clip.pk]) if clip and has_film else "",
    )


def is_current_clip(storyboard: Storyboard, clip: JobPart | None) -> bool:
    return clip is not None and clip.list_name == SCENE_CLIPS and clip.job_id == storyboard.copy_id


def row_status(
    charge: Charge, clip: JobPart | None, scene: Mapping[str, Any]
) -> tuple[str, str, str]:
    """Return a glyph, the prompt or the reason, and what is to know besides."""
    prompt = quote_text(str(scene.get("prompt") or ""))
    if charge.state == ChargeState.UNKNOWN and charge.applied_at is None:
        texts = open_charge_texts(charge, timezone.now(), charge.account.pause_reason)
        return "unknown", prompt, texts.detail
    if charge.state == ChargeState.DRAFT:
        return "waiting", prompt, APPROVAL_TEXT
    if charge.is_open and charge.applied_at is None:
        return "running", prompt, ORDERED_TEXT
    if not charge.is_charged and charge.applied_at is None:
        return "failed", charge.reason or NO_REASON, ""
    if clip is not None and clip.state == PartState.FAILED:
        is_kept = charge.cost and not charge.refunded_at
        return (
            "failed",
            quote_text(clip.failure_message or NO_REASON),
            (NOT_REFUNDED if is_kept else ""),
        )
    if clip is not None and clip.state == PartState.RUNNING:
        return "running", prompt, ""
    return "good", prompt, ""


def made_with(charge: Charge, scene: Mapping[str, Any]) -> str:
    """Return a text such as `Luca, Marlow 02, 10 s`."""
    seconds = scene.get("duration")
    parts = (charge.member.first_name, engine_name(charge), f"{seconds} s" if seconds else "")
    return ", ".join(filter(None, parts))


def engine_name(charge: Charge) -> str:
    draft = charge.job.draft_or_none if charge.job else None
    content = (draft.sent_settings or draft.settings) if draft else {}
    engine_id = content.get("clip_engine_id")
    if engine_id is None:
        return ""
    item = account_options(charge.account).find_option("clip_engine_id", engine_id) or {}
    model = find_clip_model(account_clip_models(charge.account), item.get("slug"))
    return model.name if model else str(item.get("name") or "")


def scene_cost(charge: Charge, scene_id: str) -> Decimal | None:
    """Return what the clip cost, or is expected to: its part of an order of several."""
    amount = charge.cost if charge.is_charged else charge.price
    if charge.state == ChargeState.REFUSED:
        return Decimal(0)
    shares = clip_shares(charge.job, charge.body.get("scenes", ())) if charge.job else {}
    return split_clip_cost(amount or Decimal(0), shares).get(scene_id)


def amount_kind(charge: Charge, cost: Decimal | None) -> str:
    if charge.is_charged:
        return "exact" if cost else "free"
    return "exact" if charge.state == ChargeState.REFUSED else "about"
