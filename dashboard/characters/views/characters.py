"""The gallery, the page of a character, its photo, and what hides it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.characters import actions
from dashboard.characters.queries.cards import characters_of, with_character_relations
from dashboard.characters.queries.gallery import CharacterFilters, load_gallery
from dashboard.characters.queries.page import load_character_page
from dashboard.shared.access import fetch_character, fetch_hidden_job, has_permission
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.lists import render_list
from dashboard.shared.recheck import RECHECK_STARTED, recheck_job
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from proxyapi import stored_files
from proxyapi.credentials.encryption import EncryptionError
from proxyapi.models import JobKind, JobState, StoredFile
from proxyapi.refusals import Refusal

GALLERY_TEMPLATE, LIST_TEMPLATE = "characters/gallery.html", "characters/_list.html"
PAGE_TEMPLATE, BODY_TEMPLATE = "characters/page.html", "characters/_body.html"
PHOTO_SENT_TEXT = "The photo is no longer kept here."
CHECK_QUEUED_TEXT = "It is checked as soon as the rate limit of its token allows."


@require_safe
@vary_on_headers("HX-Request")
def characters(request: TeamRequest) -> HttpResponse:
    filters = CharacterFilters.parse(request.GET.dict())
    context = load_gallery(request.membership, filters)
    return render_list(
        request, GALLERY_TEMPLATE, LIST_TEMPLATE, context, "components/list_tabs.html"
    )


@require_safe
@vary_on_headers("HX-Request")
def character(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the page; who may go on with one that is not trained gets its steps."""
    job = fetch_character(request, job_id)
    is_open = job.state == JobState.DRAFT and not job.charges.starting_jobs().exists()
    if is_open and has_permission(request.membership, Permission.RENDER):
        return redirect("character-step", job.pk, "next")
    template = BODY_TEMPLATE if request.htmx else PAGE_TEMPLATE
    row = with_character_relations(characters_of(request.team.tenant)).get(pk=job.pk)
    return render(request, template, {"page": load_character_page(row, request.membership)})


@require_safe
def photo(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Return the photo while it waits to be sent."""
    job = fetch_character(request, job_id)
    file = StoredFile.objects.filter(job=job).order_by("-created_at").first()
    if file is None:
        raise Http404(PHOTO_SENT_TEXT)
    try:
        content = stored_files.read_stored_file(file)
    except EncryptionError:
        raise Http404(PHOTO_SENT_TEXT) from None
    response = HttpResponse(content, content_type=file.content_type)
    response["Cache-Control"] = "private, no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    return response


class HideCharacter(DialogView):
    template_name, page_template = "characters/_hide.html", "characters/dialog_page.html"

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_character(self.request, job_id, Permission.RENDER)
        self.back = reverse("character", args=[job_id])

    def save(self, form: PortalForm) -> str:
        actions.set_character_hidden(by=self.by, job=self.job, is_hidden=True)
        self.back = "characters"
        self.undo_url = reverse("character-restorations", args=[self.job.pk])
        return f"“{self.job.title}” is hidden."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"job": self.job}

    def load_page(self) -> Mapping[str, Any]:
        return {}


@require_POST
def restore_character(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_hidden_job(request, job_id)
    if job.kind != JobKind.CHARACTER:
        raise Http404("This character does not exist in this team.")
    actions.set_character_hidden(by=request.membership, job=job, is_hidden=False)
    messages.success(request, f"“{job.title}” is shown again.")
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))


@require_POST
def check_character(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Read its status now, without a confirmation, because it costs no credits."""
    job = fetch_character(request, job_id, Permission.RECHECK)
    try:
        unknown_charges = recheck_job(by=request.membership, job=job)
    except Refusal as refused:
        messages.error(request, refused.sentence)
    else:
        messages.info(request, RECHECK_STARTED if unknown_charges else CHECK_QUEUED_TEXT)
    return redirect("character", job.pk)
