"""The price question before scenes are written, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from dashboard.shared.access import fetch_storyboard
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.storyboards.actions.writing import WritingRequest, write_scenes
from dashboard.storyboards.forms.start import USE_COUNT_BUTTON, WritingForm, with_used_count
from dashboard.storyboards.queries.writing import build_writing_question
from dashboard.storyboards.readiness.writing import has_scenes_or_writing
from proxyapi.models import Storyboard
from proxyapi.refusals import Refusal

PAGE_TEMPLATE = "storyboards/writing.html"
REQUESTED_TEXT = "An approval of the scenes of “{title}” was requested. Nothing was charged."


class WriteScenes(ChargeDialog):
    """The button that takes the described number of scenes sends nothing."""

    page_template = PAGE_TEMPLATE

    def fetch(self, storyboard_id: UUID) -> None:
        self.storyboard = fetch_storyboard(self.request, storyboard_id, Permission.RENDER)
        self.back = reverse("storyboard", args=[storyboard_id])
        self.writing_form = build_writing_form(self.request, self.storyboard)

    def post(self, request: HttpRequest, **ids: Any) -> HttpResponse:
        if USE_COUNT_BUTTON in request.POST:
            return self.get(request)
        return super().post(request, **ids)

    def charge(self, **confirmed: Any) -> str:
        wanted = read_writing_request(self.writing_form)
        write_scenes(by=self.by, storyboard=self.storyboard, request=wanted, **confirmed)
        if confirmed["answer"].note is None:
            return ""
        return REQUESTED_TEXT.format(title=self.storyboard.title)

    def build_question(self) -> PriceQuestion:
        has_fields = self.writing_form is not None
        return build_writing_question(self.storyboard, self.by, has_fields=has_fields)

    def load_dialog(self) -> Mapping[str, Any]:
        question = super().load_dialog()
        return {**question, "storyboard": self.storyboard, "form": self.writing_form}

    def load_page(self) -> Mapping[str, Any]:
        return {}


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
