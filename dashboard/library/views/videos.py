"""Views of the library and of a video, of their live parts, and of the actions on a video."""

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

from dashboard.library import actions
from dashboard.library.forms import ImportForm
from dashboard.library.queries.buttons import video_menu_actions
from dashboard.library.queries.films.buttons import film_buttons
from dashboard.library.queries.filters import LibraryFilters
from dashboard.library.queries.retry_question import build_retry_question
from dashboard.library.queries.video_list import load_library_page
from dashboard.library.queries.video_page import load_video_page, load_video_page_with_actions
from dashboard.shared.access import check_permission, fetch_hidden_job, fetch_job
from dashboard.shared.dialogs import ChargeDialog, DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.job_pages import JOB_PAGE_NAMES, job_page_url
from dashboard.shared.lists import render_list
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.recheck import RECHECK_STARTED, recheck_job
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.storyboards.copies import is_unrendered_copy, storyboard_url
from dashboard.shared.videos.state_tabs import HIDDEN_TAB
from proxyapi.models import Job, JobKind, JobState
from proxyapi.operations import retry_operation_of
from proxyapi.refusals import NotReady, Refusal

LIST_TEMPLATE, PAGE_TEMPLATE = "library/list.html", "library/video/page.html"
QUESTION_TEMPLATE, MENU_TEMPLATE = "components/price_question.html", "library/video/_menu.html"
# What changes with the list, beside its chips.
FOLLOWING = ("components/list_tabs.html", "library/_select_link.html", "library/_shell.html")
CHECK_QUEUED_TEXT = (
    "It is checked as soon as the rate limit of its token allows. The result appears here."
)


@require_safe
@vary_on_headers("HX-Request")
def library(request: TeamRequest) -> HttpResponse:
    filters = LibraryFilters.parse(request.GET.dict())
    context = load_library_page(request.membership, filters)
    return render_list(request, LIST_TEMPLATE, "library/list.html#list", context, *FOLLOWING)


class ImportVideo(DialogView):
    """Add a video that was made elsewhere with a token of the member, by its id at the service."""

    template_name, page_template, back = "library/_import.html", LIST_TEMPLATE, "library"
    form_class = ImportForm
    existing: Job | None = None  # that has the entered id

    def fetch(self) -> None:
        check_permission(self.by, Permission.RENDER)

    def save(self, form: PortalForm) -> str:
        kind, upstream_id = JobKind(form.cleaned_data["kind"]), form.cleaned_data["upstream_id"]
        job, is_new = actions.import_video(by=self.by, kind=kind, upstream_id=upstream_id)
        if not is_new:
            self.existing = job
            where = "hidden" if job.hidden_at else "already in the library"
            raise NotReady(f"It is {where}: “{job.title}”.", field="upstream_id")
        self.back = job_page_url(job)
        follow = " Its status is checked until it is finished."
        return f"“{job.title}” was imported.{follow if job.state == JobState.RUNNING else ''}"

    def load_dialog(self) -> Mapping[str, Any]:
        existing = self.existing
        if existing is None:
            return {"existing_url": ""}
        hidden_url = LibraryFilters(state=HIDDEN_TAB).url()
        return {"existing_url": job_page_url(existing) or hidden_url}

    def load_page(self) -> Mapping[str, Any]:
        return load_library_page(self.by, LibraryFilters())


@require_safe
@vary_on_headers("HX-Request")
def video(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the page; `?part=news` returns what a push would contain, for a page without a
    stream. What is no video has a page of its own, and a copy without a film that of its
    storyboard."""
    job = fetch_job(request, job_id)
    if job.kind in JOB_PAGE_NAMES:
        return redirect(job_page_url(job) or "library")
    if is_unrendered_copy(job) and (editor_url := storyboard_url(job)):
        return redirect(editor_url)
    if request.GET.get("part") == "news":
        return render(request, "library/video/updated.html", {"videos": [load_video_page(job)]})
    return render(request, PAGE_TEMPLATE, video_page_context(request, job))


@require_safe
def video_actions(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render the reader's own buttons; a pushed card has only a placeholder for them."""
    job, head = fetch_job(request, job_id), request.GET.get("at") == "head"
    video, buttons = load_video_page_with_actions(job, request.membership, head=head)
    context = {"video": video, "card": video.card, "acts": buttons}
    name = "library/video/_head_actions.html" if head else "library/_card_actions.html"
    return render(request, name, context)


@require_safe
def video_menu(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Render what can be done with the video of a card."""
    job = fetch_job(request, job_id, Permission.RENDER)
    items = [*film_buttons(job), *video_menu_actions(job)]
    return render_video_dialog(request, job, MENU_TEMPLATE, {"items": items})


class RetryVideo(ChargeDialog):
    page_template = PAGE_TEMPLATE

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_job(self.request, job_id, Permission.RENDER)
        if retry_operation_of(self.job.kind) is None:
            raise Http404("The service has no retry for this kind of video.")
        self.back = reverse("video", args=[self.job.pk])

    def charge(self, **confirmed: Any) -> None:
        failed_at = self.request.POST.get("failed_at", "")  # only compared, never parsed
        actions.retry_video(by=self.by, job=self.job, failed_at=failed_at, **confirmed)

    def build_question(self) -> PriceQuestion:
        return build_retry_question(self.job, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return {"job": self.job, **video_page_context(self.request, self.job)}


class HideVideo(DialogView):
    template_name, page_template = "library/video/_hide.html", PAGE_TEMPLATE

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_job(self.request, job_id, Permission.RENDER)
        self.back = job_page_url(self.job)

    def save(self, form: PortalForm) -> str:
        actions.hide_video(by=self.by, job=self.job)
        self.back, self.undo_url = "library", reverse("video-restorations", args=[self.job.pk])
        return f"“{self.job.title}” is hidden."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"job": self.job}

    def load_page(self) -> Mapping[str, Any]:
        return video_page_context(self.request, self.job)


@require_POST
def restore_video(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show a hidden video in the library again."""
    job = fetch_hidden_job(request, job_id)
    actions.unhide_video(by=request.membership, job=job)
    messages.success(request, f"“{job.title}” is shown in the library again.")
    return redirect(safe_return_path(request, request.headers.get("Referer", "")))


@require_POST
def check_video_now(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Poll the service now, without a confirmation, because it costs no credits."""
    job = fetch_job(request, job_id, Permission.RECHECK)
    try:
        unknown_charges = recheck_job(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, RECHECK_STARTED if unknown_charges else CHECK_QUEUED_TEXT)
    return redirect("video", job.pk)


def render_video_dialog(
    request: TeamRequest, job: Job, dialog: str, context: dict[str, Any]
) -> HttpResponse:
    """Render the dialog alone for htmx; without scripts, the page with the dialog open."""
    if request.htmx:
        return render(request, dialog, {"job": job, **context, "fragment": True})
    return render(
        request,
        PAGE_TEMPLATE,
        {**video_page_context(request, job), "job": job, **context, "dialog": dialog},
    )


def video_page_context(request: TeamRequest, job: Job) -> dict[str, Any]:
    video, buttons = load_video_page_with_actions(job, request.membership, head=True)
    exports_url = reverse("exports", args=[job.pk]) if job.kind == JobKind.FACELESS else ""
    return {"video": video, "acts": buttons, "exports_url": exports_url}
