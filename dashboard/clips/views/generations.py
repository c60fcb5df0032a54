"""The price of a draft of a clip, the price question, and the generation."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.clips import actions
from dashboard.clips.queries import build_clip_price, build_clip_question, build_composer
from dashboard.clips.readiness import is_composable
from dashboard.clips.views.composer import NEW, PAGE_TEMPLATE, page_context
from dashboard.shared.access import fetch_clip
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

GENERATING_TEXT = "“{title}” is being generated. It appears under Recent clips."
REQUESTED_TEXT = "An approval of “{title}” was requested. Nothing was charged."
PRICE_TEMPLATE = "clips/_price.html"
QUESTION_TEMPLATE = "components/price_question.html"


@allow_get_or_post
def clip_price(request: TeamRequest, clip_id: UUID) -> HttpResponse:
    """Render the price card from our own database; POST requests a new price, free of charge."""
    job = fetch_clip(request, clip_id, Permission.RENDER)
    is_sent = not is_composable(job)
    if request.method == "POST" and not is_sent:
        actions.request_clip_price(by=request.membership, job=job)
        job = fetch_clip(request, clip_id)
    if is_sent or not request.htmx:
        return redirect_to(request, f"{reverse('clips')}?draft={NEW if is_sent else job.pk}")
    composer = build_composer(request.membership, job.pk, job)
    price = build_clip_price(composer, request.membership)
    return render(request, PRICE_TEMPLATE, {"composer": composer, "price": price, "fetched": True})


@allow_get_or_post
def generate(request: TeamRequest, clip_id: UUID) -> HttpResponse:
    """Show the price question; POST holds the credits and has the clip generated, once per rendered
    form."""
    job = fetch_clip(request, clip_id, Permission.RENDER)
    form, refusal = ConfirmForm(request.POST if request.method == "POST" else None), ""
    if request.method == "POST":
        try:
            edited_at = request.POST.get("edited_at", "")  # only compared, never parsed
            arguments = form.charge_arguments()
            actions.generate_clip(by=request.membership, job=job, edited_at=edited_at, **arguments)
        except Refusal as refused:
            job, refusal = fetch_clip(request, clip_id), refused.sentence
        else:
            text = GENERATING_TEXT if arguments["answer"].note is None else REQUESTED_TEXT
            messages.success(request, text.format(title=job.title))
            return redirect_to(request, f"{reverse('clips')}?draft={NEW}")
    composer = build_composer(request.membership, job.pk, job)
    question = build_clip_question(composer, job, request.membership, refusal, form.idempotency_key)
    if request.htmx:
        context = {"question": question, "composer": composer, "fragment": True}
        return render(request, QUESTION_TEMPLATE, context)
    context = page_context(request, composer, question=question)
    return render(request, PAGE_TEMPLATE, context)
