"""The price of a draft of a clip, the price question, and the generation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.clips import actions
from dashboard.clips.queries import build_clip_price, build_clip_question, build_composer
from dashboard.clips.readiness import is_composable
from dashboard.clips.views.composer import NEW, PAGE_TEMPLATE, page_context
from dashboard.shared.access import fetch_clip
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission

GENERATING_TEXT = "“{title}” is being generated. It appears under Recent clips."
REQUESTED_TEXT = "An approval of “{title}” was requested. Nothing was charged."
PRICE_TEMPLATE = "clips/_price.html"


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


class GenerateClip(ChargeDialog):
    page_template = PAGE_TEMPLATE

    def fetch(self, clip_id: UUID) -> None:
        self.job = fetch_clip(self.request, clip_id, Permission.RENDER)
        self.back = f"{reverse('clips')}?draft={NEW}"

    def charge(self, **confirmed: Any) -> str:
        edited_at = self.request.POST.get("edited_at", "")  # only compared, never parsed
        actions.generate_clip(by=self.by, job=self.job, edited_at=edited_at, **confirmed)
        text = GENERATING_TEXT if confirmed["answer"].note is None else REQUESTED_TEXT
        return text.format(title=self.job.title)

    def build_question(self) -> PriceQuestion:
        self.composer = build_composer(self.by, self.job.pk, self.job)
        return build_clip_question(self.composer, self.job, self.by)

    def load_dialog(self) -> Mapping[str, Any]:
        return {**super().load_dialog(), "composer": self.composer}

    def load_page(self) -> Mapping[str, Any]:
        return page_context(self.request, self.composer)
