"""Previews and training: what the service makes of a character, and the choice between."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.characters import actions
from dashboard.characters.forms import PreviewChoiceForm
from dashboard.characters.queries.cards import load_genre_names, with_character_relations
from dashboard.characters.queries.questions import (
    build_preview_question,
    build_training_question,
)
from dashboard.characters.queries.rounds import build_rounds
from dashboard.characters.queries.steps import CharacterStepSlug
from dashboard.characters.views.steps import STUDIO_TEMPLATE, step_context
from dashboard.shared.access import fetch_character, fetch_part
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import ConfirmForm, PriceQuestion
from dashboard.shared.roles import Permission
from proxyapi import pricing
from proxyapi.kinds.character_genres import request_genres
from proxyapi.models import Job
from proxyapi.models.job_part import PREVIEWS
from proxyapi.operations import PREVIEW_OPERATION
from proxyapi.refusals import Refusal

QUESTION_TEMPLATE = "components/price_question.html"
PICTURE_TEMPLATE = "characters/_picture.html"
NO_PICTURE = "There is no such picture."


@allow_get_or_post
def preview(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """POST requests a preview. GET shows its price, if it has one; without one nothing is asked."""
    job = fetch_character(request, job_id, Permission.RENDER)
    confirm, refusal = ConfirmForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST":
        try:
            arguments = confirm.charge_arguments()
            actions.request_preview(by=request.membership, job=job, **arguments)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            return redirect_to(request, "character-step", job.pk, CharacterStepSlug.PREVIEW)
    if not pricing.listed_price_or_free(job.account, PREVIEW_OPERATION):
        if refusal:
            messages.error(request, refusal)
        return redirect_to(request, "character-step", job.pk, CharacterStepSlug.PREVIEW)
    key = confirm.idempotency_key
    question = build_preview_question(job, request.membership, refusal, key)
    return render_question(request, job, question)


@require_POST
def choose(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Choose a picture at once, as it is pressed; the answer is the part with the pictures."""
    job, form = fetch_character(request, job_id, Permission.RENDER), PreviewChoiceForm(request.POST)
    try:
        actions.choose_preview(by=request.membership, job=job, part=form.find_part(job))
    except Refusal as refused:
        messages.error(request, refused.sentence)
        return redirect_to(request, "character", job.pk)
    if not request.htmx:
        return redirect("character-step", job.pk, CharacterStepSlug.PREVIEW)
    context = step_context(request, job, CharacterStepSlug.PREVIEW, request_genres(job.account))
    return render(request, STUDIO_TEMPLATE, context)


@require_safe
def picture(request: TeamRequest, job_id: UUID, part_id: UUID) -> HttpResponse:
    """Show one picture large, with the ones before and after it."""
    fetch_character(request, job_id)
    job, part = fetch_part(request, job_id, part_id)
    if part.list_name != PREVIEWS:
        raise Http404(NO_PICTURE)
    row = with_character_relations(Job.objects.filter(pk=job.pk)).get()
    rounds = build_rounds(row, load_genre_names(job.account))
    pictures = [picture for each in rounds.rounds for picture in each.candidates]
    place = next(n for n, candidate in enumerate(pictures) if candidate.id == part.pk)
    context: dict[str, Any] = {
        "job": job,
        "picture": pictures[place],
        "before": pictures[place - 1] if place else None,
        "after": pictures[place + 1] if place + 1 < len(pictures) else None,
    }
    return render_dialog(request, job, PICTURE_TEMPLATE, context)


@allow_get_or_post
def train(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show the price question; POST trains once per rendered form."""
    job = fetch_character(request, job_id, Permission.RENDER)
    confirm, refusal = ConfirmForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST":
        try:
            actions.train_character(
                by=request.membership,
                job=job,
                edited_at=request.POST.get("edited_at", ""),  # only compared, never parsed
                **confirm.charge_arguments(),
            )
        except Refusal as refused:
            job, refusal = fetch_character(request, job_id), refused.sentence
        else:
            return redirect_to(request, "character", job.pk)
    key = confirm.idempotency_key
    question = build_training_question(job, request.membership, refusal, key)
    return render_question(request, job, question)


def render_question(request: TeamRequest, job: Job, question: PriceQuestion) -> HttpResponse:
    return render_dialog(request, job, QUESTION_TEMPLATE, {"question": question})


def render_dialog(
    request: TeamRequest, job: Job, dialog: str, context: dict[str, Any]
) -> HttpResponse:
    """Render the dialog alone for htmx; without scripts, on a page of its own."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = {**context, "job": job, "dialog": dialog}
    return render(request, "characters/dialog_page.html", page)
