"""What is done with several videos at once, and its undo."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from dashboard.library import actions
from dashboard.library.forms import parse_label_choices, parse_selected_ids
from dashboard.library.queries.filters import LibraryFilters
from dashboard.library.queries.labels import load_label_dialog, video_count_text
from dashboard.library.queries.video_list import load_library_page
from dashboard.shared.access import (
    check_permission,
    fetch_selected_jobs,
    require_team_labels,
)
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from proxyapi.models import Job
from proxyapi.refusals import Refusal

UNDO_KEY = "library_undo"  # in the session: the last change, as lists of ids
NOTHING_SELECTED = "No video is selected. Select at least one."
ALREADY_UNDONE = "This was already undone, or something else was changed since."


class LabelVideos(DialogView):
    """The labels of the selected videos."""

    template_name, page_template = "library/_label_dialog.html", "library/list.html"

    def fetch(self) -> HttpResponse | None:
        self.jobs = fetch_posted_selection(self.request)
        self.back = return_path(self.request)
        return None if self.jobs else refuse_empty_selection(self.request)

    def save(self, form: PortalForm) -> str:
        choices = parse_label_choices(self.request.POST)
        require_team_labels(self.request, choices.add | choices.remove)
        change = actions.change_labels(
            by=self.by,
            job_ids=[job.pk for job in self.jobs],
            add=choices.add,
            remove=choices.remove,
            new_name=choices.new_name,
        )
        report_label_change(self.request, change, self.jobs)
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        labels = load_label_dialog(self.by, self.jobs)
        return {"labels": labels, "new": self.request.POST.get("new", "")}

    def load_page(self) -> Mapping[str, Any]:
        return load_library_page(self.by, LibraryFilters())


@require_POST
def hide_videos(request: TeamRequest) -> HttpResponse:
    """Hide the selected videos; the message can undo it."""
    return change_hidden(request, is_hidden=True)


@require_POST
def restore_videos(request: TeamRequest) -> HttpResponse:
    """Show the selected videos in the library again; the message can undo it."""
    return change_hidden(request, is_hidden=False)


@require_POST
def undo_change(request: TeamRequest, change_id: UUID) -> HttpResponse:
    """Undo the member's last change of a selection, once."""
    check_permission(request.membership, Permission.RENDER)
    kept = request.session.get(UNDO_KEY, {})
    if kept.get("id") != str(change_id):
        messages.info(request, ALREADY_UNDONE)
        return redirect(return_path(request))
    del request.session[UNDO_KEY]
    by = request.membership
    try:
        actions.set_video_labels(
            by=by, add=as_pairs(kept["removed"]), remove=as_pairs(kept["added"])
        )
        actions.set_videos_hidden(by=by, job_ids=as_ids(kept["hidden"]), is_hidden=False)
        actions.set_videos_hidden(by=by, job_ids=as_ids(kept["shown"]), is_hidden=True)
    except Refusal as refused:
        messages.error(request, refused.sentence)
        return redirect(return_path(request))
    messages.success(request, "The change was undone.")
    return redirect(return_path(request))


def change_hidden(request: TeamRequest, *, is_hidden: bool) -> HttpResponse:
    jobs = fetch_posted_selection(request)
    if not jobs:
        return refuse_empty_selection(request)
    try:
        changed = actions.set_videos_hidden(
            by=request.membership, job_ids=[job.pk for job in jobs], is_hidden=is_hidden
        )
    except Refusal as refused:
        messages.error(request, refused.sentence)
        return redirect(return_path(request))
    verb = "is" if len(jobs) == 1 else "are"
    new_state = "hidden" if is_hidden else "shown in the library again"
    text = f"{selection_name(jobs)} {verb} {new_state}."
    key = "hidden" if is_hidden else "shown"
    undo_url = keep_for_undo(request, **{key: [str(pk) for pk in changed]}) if changed else ""
    messages.info(request, text, extra_tags=undo_url)
    return redirect(return_path(request))


def report_label_change(
    request: TeamRequest, change: actions.LabelChange, jobs: Collection[Job]
) -> None:
    """Add the message with the undo button; nothing is said if nothing changed."""
    if not (change.added or change.removed):
        return
    added, removed = (as_texts(pairs) for pairs in (change.added, change.removed))
    undo_url = keep_for_undo(request, added=added, removed=removed)
    text = f"The labels of {selection_name(jobs)} were changed."
    messages.info(request, text, extra_tags=undo_url)


def selection_name(jobs: Collection[Job]) -> str:
    first = next(iter(jobs))
    return f"“{first.title}”" if len(jobs) == 1 else video_count_text(len(jobs))


def keep_for_undo(request: TeamRequest, **lists: list[Any]) -> str:
    """Keep what was changed in the session, instead of the change before; return the undo URL."""
    change_id = uuid4()
    empty: dict[str, list[Any]] = {"added": [], "removed": [], "hidden": [], "shown": []}
    request.session[UNDO_KEY] = {"id": str(change_id), **empty, **lists}
    return reverse("library-undo", args=[change_id])


def as_texts(pairs: Collection[tuple[UUID, UUID]]) -> list[list[str]]:
    return [[str(label), str(job)] for label, job in pairs]


def as_pairs(texts: list[list[str]]) -> set[tuple[UUID, UUID]]:
    return {(UUID(label), UUID(job)) for label, job in texts}


def as_ids(texts: list[str]) -> list[UUID]:
    return [UUID(text) for text in texts]


def fetch_posted_selection(request: TeamRequest) -> list[Job]:
    data = request.POST if request.method == "POST" else request.GET
    return fetch_selected_jobs(request, parse_selected_ids(data))


def refuse_empty_selection(request: TeamRequest) -> HttpResponse:
    messages.info(request, NOTHING_SELECTED)
    return redirect_to(request, return_path(request))


def return_path(request: TeamRequest) -> str:
    """Return the page that the form names, or the page it was sent from."""
    page = request.POST.get("next") or request.htmx.current_url_abs_path
    return safe_return_path(request, page or request.headers.get("Referer") or reverse("library"))
