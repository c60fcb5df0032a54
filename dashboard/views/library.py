"""The library and one video's page, their live parts, and what is done with a video."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import push_url

from dashboard.access import fetch_hidden_job, fetch_job
from dashboard.actions import studio
from dashboard.actions.looks import LOOKED_FOR, look_at
from dashboard.forms.plain import PlainForm
from dashboard.http import ASKS_OR_ACTS, TeamRequest, go_to
from dashboard.next_page import path_of
from dashboard.queries.videos.filters import filters_of
from dashboard.queries.videos.library import library_of
from dashboard.queries.videos.pages import video_and_acts, video_of
from dashboard.queries.videos.retries import retry_of
from dashboard.roles import Permission
from proxyapi.models import Job
from proxyapi.refusals import Refusal

LIST, PAGE = "dashboard/library/list.html", "dashboard/video/page.html"
ASKED = "dashboard/video/asked.html"
RETRY, HIDING = "dashboard/video/_retry.html", "dashboard/video/_hiding.html"
FORM = "library-filters"
HIDDEN_NOW = "“{title}” is hidden."
LOOKED_AT = "It is looked at as soon as its token has a request to spare. What is seen shows here."
UNSEEN = "A character that cannot be seen is in your message. Type it anew; nothing was sent."


class RetryForm(PlainForm):
    """`price`: the one that was shown. `note` comes with the button that asks for it instead."""

    drawn_hidden = {"nonce": "its own number", "price": "the price"}
    nonce = forms.UUIDField()
    price = forms.DecimalField(max_digits=14)
    note = forms.CharField(required=False, error_messages={"null_characters_not_allowed": UNSEEN})


@require_safe
@vary_on_headers("HX-Request")
def library(request: TeamRequest) -> HttpResponse:
    filters = filters_of(request.GET.dict())
    part = request.htmx and not request.htmx.history_restore_request
    template = "dashboard/library/refreshed.html" if part else LIST
    answer = render(request, template, {"library": library_of(request.membership, filters)})
    # Only what a person chose becomes the address of the page, not a list that looked again.
    return push_url(answer, filters.url()) if request.htmx.trigger == FORM else answer


@require_safe
@vary_on_headers("HX-Request")
def video(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The page; `?part=news` is what a push of it would bring, for a page without a stream."""
    job = fetch_job(request, job_id)
    if request.GET.get("part") == "news":
        return render(request, "dashboard/video/refreshed.html", {"videos": [video_of(job)]})
    return render(request, PAGE, page_of(request, job))


@require_safe
def acts(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """The reader's own buttons; a pushed card has only the place for them."""
    job, head = fetch_job(request, job_id), request.GET.get("at") == "head"
    video, buttons = video_and_acts(job, request.membership, head=head)
    context = {"video": video, "card": video.card, "acts": buttons}
    name = "dashboard/video/_head_acts.html" if head else "dashboard/library/_acts.html"
    return render(request, name, context)


@ASKS_OR_ACTS
def retries(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Ask with the price; a POST retries once for each drawing of the form."""
    job = fetch_job(request, job_id, Permission.RENDER)
    if request.method != "POST":
        return ask(request, job, RETRY, {"retry": retry_of(job, request.membership)})
    form = RetryForm(request.POST)
    try:
        if not form.is_valid():
            raise Refusal(form.first_error())
        words = form.cleaned_data["note"] if "ask" in request.POST else None
        studio.retry(
            by=request.membership,
            job=job,
            nonce=form.cleaned_data["nonce"],
            seen=form.cleaned_data["price"],
            failed_at=request.POST.get("failed_at", ""),  # compared, never read
            words=words,
        )
    except Refusal as refusal:
        fresh = fetch_job(request, job_id)
        retry = retry_of(fresh, request.membership, refusal.sentence)
        return ask(request, fresh, RETRY, {"retry": retry})
    return go_to(request, "video", job.pk)


@ASKS_OR_ACTS
def hiding(request: TeamRequest, job_id: UUID) -> HttpResponse:
    job = fetch_job(request, job_id, Permission.RENDER)
    if request.method != "POST":
        return ask(request, job, HIDING, {"card": video_of(job).card, "url": request.path})
    studio.hide(by=request.membership, job=job)
    undo_url = reverse("video-restorations", args=[job.pk])
    # It stays until it is closed: what undoes it stands in it.
    messages.info(request, HIDDEN_NOW.format(title=job.title), extra_tags=undo_url)
    return redirect("library")


@require_POST
def restorations(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show a hidden video again."""
    job = fetch_hidden_job(request, job_id)
    studio.show_again(by=request.membership, job=job)
    messages.success(request, f"“{job.title}” is in the library again.")
    return redirect(path_of(request, request.headers.get("Referer", "")))


@require_POST
def looks(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Have the service asked once more, now; it asks nobody first, for it costs no credits."""
    job = fetch_job(request, job_id, Permission.LOOK_AGAIN)
    try:
        doubts = look_at(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.info(request, LOOKED_FOR if doubts else LOOKED_AT)
    return redirect("video", job.pk)


def ask(request: TeamRequest, job: Job, dialog: str, context: dict[str, Any]) -> HttpResponse:
    """A dialog alone for htmx; without script the page with the dialog open on it."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    return render(request, ASKED, {**page_of(request, job), **context, "dialog": dialog})


def page_of(request: TeamRequest, job: Job) -> dict[str, Any]:
    video, buttons = video_and_acts(job, request.membership, head=True)
    return {"video": video, "acts": buttons}
