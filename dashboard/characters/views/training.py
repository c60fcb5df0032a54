"""Previews and training: what the service makes of a character, and the choice between."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
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
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from proxyapi import pricing
from proxyapi.kinds.character_genres import request_genres
from proxyapi.models import Job
from proxyapi.models.job_part import PREVIEWS
from proxyapi.operations import PREVIEW_OPERATION
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, PICTURE_TEMPLATE = "characters/dialog_page.html", "characters/_picture.html"
NO_PICTURE = "There is no such picture."


class CharacterCharge(ChargeDialog):
    page_template = PAGE_TEMPLATE

    def fetch(self, job_id: UUID) -> HttpResponse | None:
        self.job = fetch_character(self.request, job_id, Permission.RENDER)
        self.back = reverse("character", args=[self.job.pk])
        return None

    def load_page(self) -> Mapping[str, Any]:
        return {"job": self.job}


class RequestPreview(CharacterCharge):
    """Without a price nothing is asked: POST requests it, and GET leads to the step."""

    def fetch(self, job_id: UUID) -> HttpResponse | None:
        super().fetch(job_id)
        self.back = reverse("character-step", args=[job_id, CharacterStepSlug.PREVIEW])
        return None if self.price or self.request.method == "POST" else self.answer_saved()

    @property
    def price(self) -> Decimal | None:
        return pricing.listed_price_or_free(self.job.account, PREVIEW_OPERATION)

    def charge(self, **confirmed: Any) -> None:
        actions.request_preview(by=self.by, job=self.job, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_preview_question(self.job, self.by)

    def show(self, form: Any) -> HttpResponse:
        if self.price:
            return super().show(form)
        messages.error(self.request, form.first_error())
        return self.answer_saved()


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
    if request.htmx:
        return render(request, PICTURE_TEMPLATE, {**context, "fragment": True})
    return render(request, PAGE_TEMPLATE, {**context, "dialog": PICTURE_TEMPLATE})


class TrainCharacter(CharacterCharge):
    def charge(self, **confirmed: Any) -> None:
        edited_at = self.request.POST.get("edited_at", "")  # only compared, never parsed
        actions.train_character(by=self.by, job=self.job, edited_at=edited_at, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_training_question(self.job, self.by)
