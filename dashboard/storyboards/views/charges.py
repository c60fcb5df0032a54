"""Views of what costs credits: the clips of chosen scenes, the price of the render, the render."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.storyboards.actions import charges
from dashboard.storyboards.queries.questions import build_clips_question, build_render_question
from dashboard.storyboards.queries.rail import build_rail
from dashboard.storyboards.readiness.clip_plan import parse_scene_ids, with_lost_clips
from dashboard.storyboards.views.answers import render_dialog, return_to_editor
from proxyapi.refusals import Refusal

QUESTION_TEMPLATE = "components/price_question.html"
RAIL_TEMPLATE, SUM_TEMPLATE = "storyboards/_rail.html", "storyboards/_clip_sum.html"
GENERATING_TEXT = "{clips} being generated. You can leave this page."
RENDERING_TEXT = "“{title}” is rendering. You can leave this page."
REQUESTED_TEXT = "An approval was requested. Nothing was charged."


@allow_get_or_post
def clips(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Show the price question for `scenes`, or for one `scene` and the clips that are lost by it;
    `?part=sum` is their sum in the rail. POST has the clips generated, once per rendered form."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    posted = request.POST if request.method == "POST" else None
    ids = parse_scene_ids(",".join((posted or request.GET).getlist("scenes")))
    form, refusal = ConfirmForm(posted), ""
    if posted is not None:
        try:
            charges.generate_clips(
                by=request.membership,
                storyboard=storyboard,
                scene_ids=ids,
                version=posted.get("version", ""),  # only compared, never parsed
                **form.charge_arguments(),
            )
        except Refusal as refused:
            refusal = refused.sentence
            storyboard = fetch_storyboard(request, storyboard_id)
        else:
            text = "1 clip is" if len(ids) == 1 else f"{len(ids)} clips are"
            text = REQUESTED_TEXT if "ask" in posted else GENERATING_TEXT.format(clips=text)
            messages.success(request, text)
            return return_to_editor(request, storyboard)
    rows = load_scene_rows(storyboard)
    if posted is None and "scene" in request.GET:
        ids = with_lost_clips(storyboard, rows, parse_scene_ids(request.GET["scene"]))
    if request.GET.get("part") == "sum":
        rail = build_rail(request.membership, storyboard, rows, ids)
        return render(request, SUM_TEMPLATE, {"rail": rail, "fetched": True})
    question = build_clips_question(
        storyboard, rows, request.membership, ids, refusal, form.idempotency_key
    )
    return render_dialog(request, storyboard, QUESTION_TEMPLATE, {"question": question})


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


@allow_get_or_post
def film(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Show the price question of the render; POST has the film rendered, once per rendered form."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    posted = request.POST if request.method == "POST" else None
    form, refusal = ConfirmForm(posted), ""
    if posted is not None:
        try:
            charges.render_storyboard(
                by=request.membership,
                storyboard=storyboard,
                version=posted.get("version", ""),  # only compared, never parsed
                **form.charge_arguments(),
            )
        except Refusal as refused:
            refusal = refused.sentence
            storyboard = fetch_storyboard(request, storyboard_id)
        else:
            text = REQUESTED_TEXT if "ask" in posted else RENDERING_TEXT
            messages.success(request, text.format(title=storyboard.title))
            return return_to_editor(request, storyboard)
    rows = load_scene_rows(storyboard)
    question = build_render_question(
        storyboard, rows, request.membership, refusal, form.idempotency_key
    )
    return render_dialog(request, storyboard, QUESTION_TEMPLATE, {"question": question})
