"""The price question before scenes are written, and its answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.roles import Permission
from dashboard.storyboards.actions.writing import WritingRequest, write_scenes
from dashboard.storyboards.forms.start import USE_COUNT_BUTTON, WritingForm, with_used_count
from dashboard.storyboards.queries.writing import build_writing_question
from dashboard.storyboards.readiness.writing import has_scenes_or_writing
from proxyapi.models import Storyboard
from proxyapi.refusals import Refusal

QUESTION_TEMPLATE = "components/price_question.html"
PAGE_TEMPLATE = "storyboards/writing.html"
REQUESTED_TEXT = "An approval of the scenes of “{title}” was requested. Nothing was charged."


@allow_get_or_post
def write(request: TeamRequest, storyboard_id: UUID) -> HttpResponse:
    """Show the price question; POST holds the credits and has the scenes written, once per rendered
    form. The button that takes the described number of scenes sends nothing."""
    storyboard = fetch_storyboard(request, storyboard_id, Permission.RENDER)
    form, refusal = ConfirmForm(request.POST if request.method == "POST" else None), ""
    writing_form = build_writing_form(request, storyboard)
    if request.method == "POST" and USE_COUNT_BUTTON not in request.POST:
        try:
            wanted = read_writing_request(writing_form)
            arguments = form.charge_arguments()
            write_scenes(by=request.membership, storyboard=storyboard, request=wanted, **arguments)
        except Refusal as refused:
            refusal = refused.sentence
            storyboard = fetch_storyboard(request, storyboard_id)
        else:
            if arguments["answer"].note is not None:
                messages.success(request, REQUESTED_TEXT.format(title=storyboard.title))
            return redirect_to(request, "storyboard", storyboard.pk)
    question = build_writing_question(
        storyboard,
        request.membership,
        has_fields=writing_form is not None,
        refusal=refusal,
        idempotency_key=form.idempotency_key,
    )
    context: dict[str, Any] = {"question": question, "storyboard": storyboard, "form": writing_form}
    if request.htmx:
        return render(request, QUESTION_TEMPLATE, {**context, "fragment": True})
    return render(request, PAGE_TEMPLATE, context)


def build_writing_form(request: TeamRequest, storyboard: Storyboard) -> WritingForm | None:
    """Return the fields of the question; None right after the form of a new storyboard, which has
    them."""
    if request.method == "POST":
        data = with_used_count(request.POST)
        return WritingForm(data) if "description" in data else None
    if not has_scenes_or_writing(storyboard):
        return None
    fields = ("description", "style", "scene_count")
    initial = {name: getattr(storyboard, name) or None for name in fields}
    return WritingForm(initial={name: value for name, value in initial.items() if value})


def read_writing_request(form: WritingForm | None) -> WritingRequest | None:
    """Raises `Refusal` if the fields are invalid."""
    if form is None:
        return None
    if not form.is_valid():
        raise Refusal(form.first_error())
    chosen = form.cleaned_data
    return WritingRequest(chosen["description"], chosen["style"], chosen["scene_count"])
