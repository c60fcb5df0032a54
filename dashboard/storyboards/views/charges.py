"""Views of what costs credits: the clips of chosen scenes, the price of the render, the render."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.storyboards.actions import charges
from dashboard.storyboards.queries.questions import build_clips_question, build_render_question
from dashboard.storyboards.queries.rail import build_rail
from dashboard.storyboards.readiness.clip_plan import parse_scene_ids, with_lost_clips
from dashboard.storyboards.views.answers import DIALOG_PAGE_TEMPLATE, editor_url, return_to_editor
from proxyapi.refusals import Refusal

RAIL_TEMPLATE, SUM_TEMPLATE = "storyboards/_rail.html", "storyboards/_clip_sum.html"
GENERATING_TEXT = "{clips} being generated. You can leave this page."
RENDERING_TEXT = "“{title}” is rendering. You can leave this page."
REQUESTED_TEXT = "An approval was requested. Nothing was charged."


class StoryboardCharge(ChargeDialog):
    page_template = DIALOG_PAGE_TEMPLATE

    def fetch(self, storyboard_id: UUID) -> HttpResponse | None:
        self.storyboard = fetch_storyboard(self.request, storyboard_id, Permission.RENDER)
        self.rows = load_scene_rows(self.storyboard)
        self.back = editor_url(self.request, self.storyboard)
        return None

    @property
    def version(self) -> str:
        return self.request.POST.get("version", "")  # only compared, never parsed

    def load_page(self) -> Mapping[str, Any]:
        return {"storyboard": self.storyboard}


class GenerateClips(StoryboardCharge):
    """The clips of `scenes`, or of one `scene` and those that are lost by it; `?part=sum` is their
    sum in the rail."""

    def fetch(self, storyboard_id: UUID) -> HttpResponse | None:
        super().fetch(storyboard_id)
        sent = self.request.POST or self.request.GET
        self.scene_ids = parse_scene_ids(",".join(sent.getlist("scenes")))
        if self.request.method == "POST":
            return None
        if scene := self.request.GET.get("scene"):
            ids = parse_scene_ids(scene)
            self.scene_ids = with_lost_clips(self.storyboard, self.rows, ids)
        if self.request.GET.get("part") != "sum":
            return None
        rail = build_rail(self.by, self.storyboard, self.rows, self.scene_ids)
        return render(self.request, SUM_TEMPLATE, {"rail": rail, "fetched": True})

    def charge(self, **confirmed: Any) -> str:
        ids = self.scene_ids
        charges.generate_clips(
            by=self.by,
            storyboard=self.storyboard,
            scene_ids=ids,
            version=self.version,
            **confirmed,
        )
        if confirmed["answer"].note is not None:
            return REQUESTED_TEXT
        return GENERATING_TEXT.format(
            clips="1 clip is" if len(ids) == 1 else f"{len(ids)} clips are"
        )

    def build_question(self) -> PriceQuestion:
        return build_clips_question(self.storyboard, self.rows, self.by, self.scene_ids)


@require_POST
def price(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Request the price of the render, free of charge; the rail shows it when it is there."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    refusal = ""
    try:
        charges.request_render_price(by=request.membership, storyboard=storyboard)
    except Refusal as refused:
        refusal = refused.sentence
    if not request.htmx:
        if refusal:
            messages.error(request, refusal)
        return return_to_editor(request, storyboard)
    storyboard = fetch_storyboard(request, storyboard_id)
    rail = build_rail(request.membership, storyboard, load_scene_rows(storyboard))
    context = {"rail": rail, "storyboard": storyboard, "refusal": refusal}
    return render(request, RAIL_TEMPLATE, context)


class RenderFilm(StoryboardCharge):
    def charge(self, **confirmed: Any) -> str:
        charges.render_storyboard(
            by=self.by, storyboard=self.storyboard, version=self.version, **confirmed
        )
        text = RENDERING_TEXT if confirmed["answer"].note is None else REQUESTED_TEXT
        return text.format(title=self.storyboard.title)

    def build_question(self) -> PriceQuestion:
        return build_render_question(self.storyboard, self.rows, self.by)
