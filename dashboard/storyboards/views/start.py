"""The page of a new storyboard. What is started with it is kept: empty scenes open the editor, and
written ones are asked for with their price."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.vary import vary_on_headers

from dashboard.shared.access import check_permission, find_storyboard
from dashboard.shared.clip_models import find_clip_model
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.member_token import load_own_token
from dashboard.shared.query_params import parse_small_int, parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.storyboards.scene_writing import (
    MAX_WRITTEN_SCENES,
    USUAL_SCENE_COUNT,
    storyboard_models,
)
from dashboard.storyboards.actions.storyboards import start_storyboard
from dashboard.storyboards.forms.start import (
    FORMAT_FIELDS,
    USE_COUNT_BUTTON,
    StoryboardForm,
    with_used_count,
)
from dashboard.storyboards.queries.start import build_start_page, default_engine
from dashboard.storyboards.queries.writing import build_writing_question
from dashboard.storyboards.readiness.writing import has_scenes_or_writing
from proxyapi.models import Storyboard, StoryboardMode
from proxyapi.refusals import Refusal

START_TEMPLATE, UPDATED_TEMPLATE = "storyboards/new.html", "storyboards/_start_updated.html"
FORM_TEMPLATE, QUESTION_TEMPLATE = "storyboards/_start.html", "components/price_question.html"
INVALID_FORM_STATUS = 422
START_FIELDS = ("title", "mode", "description", "style", "scene_count", "engine", *FORMAT_FIELDS)


@allow_get_or_post
@vary_on_headers("HX-Request")
def new_storyboard(request: TeamRequest) -> HttpResponse:
    """Render the form; `?storyboard=` goes on with one that has no scenes. A POST with `part`
    stores nothing and renders what depends on the choices."""
    check_permission(request.membership, Permission.RENDER)
    if request.method != "POST":
        return show_form(request)
    token = load_own_token(request.membership)
    models = storyboard_models(token.account) if token else ()
    form = StoryboardForm(models, with_used_count(request.POST))
    if USE_COUNT_BUTTON in request.POST:
        return render(request, START_TEMPLATE, start_context(request, form))
    if "part" in request.POST:
        context = start_context(request, form)
        # None: no engine was known when the page was opened, so it has no place for menus.
        menus_shown = request.POST.get("menus")
        context["has_new_engines"] = bool(models) and menus_shown is None
        context["has_new_menus"] = menus_shown not in (None, context["page"].menus_version)
        return render(request, UPDATED_TEMPLATE, context)
    refusal = ""
    if form.is_valid():
        known = find_storyboard(request, form.cleaned_data["storyboard"])
        if known is not None and has_scenes_or_writing(known):
            return redirect_to(request, "storyboard", known.pk)
        try:
            storyboard = start_storyboard(by=request.membership, start=form.start())
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return show_next(request, storyboard)
    return render_form(request, {**start_context(request, form), "refusal": refusal})


def show_form(request: TeamRequest) -> HttpResponse:
    started_id = parse_uuid(request.GET.get("storyboard", ""))
    started = find_storyboard(request, started_id) if started_id else None
    if started is not None and has_scenes_or_writing(started):
        return redirect("storyboard", started.pk)
    initial: dict[str, Any] = {"storyboard": uuid4(), "mode": StoryboardMode.WIZARD}
    if started is not None:
        initial = {
            "storyboard": started.pk,
            **{name: getattr(started, name) for name in START_FIELDS},
        }
    token = load_own_token(request.membership)
    models = storyboard_models(token.account) if token else ()
    if find_clip_model(models, initial.get("engine")) is None:
        initial |= default_engine(request.membership, models)
    return render(
        request, START_TEMPLATE, start_context(request, StoryboardForm(models, initial=initial))
    )


def show_next(request: TeamRequest, storyboard: Storyboard) -> HttpResponse:
    """Open the editor; ask first if scenes are to be written."""
    if storyboard.mode == StoryboardMode.MANUAL:
        return redirect_to(request, "storyboard", storyboard.pk)
    if not request.htmx:
        return redirect("storyboard-writing", storyboard.pk)
    question = build_writing_question(storyboard, request.membership)
    return render(
        request,
        QUESTION_TEMPLATE,
        {"question": question, "storyboard": storyboard, "fragment": True},
    )


def start_context(request: TeamRequest, form: StoryboardForm) -> dict[str, Any]:
    count = parse_small_int(form.value_of("scene_count")) or USUAL_SCENE_COUNT
    page = build_start_page(
        request.membership,
        load_own_token(request.membership),
        form.models,
        form.chosen_model,
        form.fitted,
        mode=form.value_of("mode"),
        scene_count=min(count, MAX_WRITTEN_SCENES),
    )
    return {"form": form, "page": page}


def render_form(request: TeamRequest, context: dict[str, Any]) -> HttpResponse:
    """Render the refused form with what was typed."""
    if not request.htmx:
        return render(request, START_TEMPLATE, context, status=INVALID_FORM_STATUS)
    response = render(request, FORM_TEMPLATE, context)
    response["HX-Retarget"], response["HX-Reswap"] = "#start", "outerHTML show:window:top"
    return response
