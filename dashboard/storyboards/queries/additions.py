"""The storyboards of a team that the prompt of a clip can be added to."""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.db.models import Count

from dashboard.models import Membership
from dashboard.shared.clip_models import clip_model_name
from dashboard.shared.formatting import clock, credits
from dashboard.shared.storyboards.scene_states import scene_clip_credits, storyboard_model
from dashboard.shared.videos.labels import scene_count_text
from dashboard.storyboards.readiness.clip_scene import (
    clip_seconds,
    picture_of,
    scene_seconds_of,
    takes_first_frame,
)
from proxyapi.models import Job, Storyboard

MAX_LISTED_STORYBOARDS = 20


def load_clip_addition(reader: Membership, job: Job) -> dict[str, Any]:
    """Return the newest storyboards; one query, and one for each account of them. `scene_id` is the
    key of the form: sent twice, it adds one scene."""
    boards = Storyboard.objects.filter(tenant=reader.team.tenant_id, hidden_at=None)
    rows = list(
        boards.select_related("account")
        .annotate(scenes_here=Count("scenes"))
        .order_by("-edited_at", "-pk")[: MAX_LISTED_STORYBOARDS + 1]
    )
    return {
        "title": job.title,
        "prompt": str(job.chosen_settings.get("prompt") or ""),
        "choices": tuple(build_choice(row, job) for row in rows[:MAX_LISTED_STORYBOARDS]),
        "has_more": len(rows) > MAX_LISTED_STORYBOARDS,
        "can_start_on_picture": bool(picture_of(job)),
        "scene_id": field(default_factory=uuid4),
    }


def build_choice(storyboard: Storyboard, job: Job) -> dict[str, Any]:
    """A storyboard, with what a scene of the clip would be in it."""
    count: int = storyboard.scenes_here  # type: ignore[attr-defined]  # annotated
    engine = clip_model_name(storyboard.account, storyboard.engine) if storyboard.engine else ""
    parts = (scene_count_text(count), engine, f"edited {clock(storyboard.edited_at)}")
    return {
        "id": storyboard.pk,
        "title": storyboard.title,
        "note": ", ".join(filter(None, parts)),
        "scene_text": scene_text(storyboard, job),
    }


def scene_text(storyboard: Storyboard, job: Job) -> str:
    """Return a text such as `6 s, nearest to 5 s. Its clip costs ≈ 10 cr.`"""
    model = storyboard_model(storyboard)
    wanted, seconds = clip_seconds(job), scene_seconds_of(job, model)
    nearest = f", nearest to {wanted} s" if seconds != wanted else ""
    price: Decimal | None = scene_clip_credits(storyboard, model, seconds)
    cost = f" Its clip costs ≈ {credits(price)} cr." if price else ""
    frame = "" if takes_first_frame(model) else " The engine takes no first frame."
    return f"{seconds} s{nearest}.{cost}{frame}"
