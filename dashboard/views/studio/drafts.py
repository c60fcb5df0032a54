"""The first page of the studio: the drafts of the team, and a new one."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.access import check
from dashboard.actions import studio as actions
from dashboard.forms.studio import NewForm
from dashboard.http import TeamRequest
from dashboard.queries.studio import Slug, drafts_of
from dashboard.roles import Permission
from dashboard.views.studio.answers import UNUSABLE
from proxyapi.refusals import Refusal

LIST = "dashboard/studio/list.html"


@require_safe
def studio(request: TeamRequest) -> HttpResponse:
    context = {"list": drafts_of(request.membership), "form": NewForm()}
    return render(request, LIST, context)


@require_POST
def drafts(request: TeamRequest) -> HttpResponse:
    check(request.membership, Permission.RENDER)
    form = NewForm(request.POST)
    if form.is_valid():
        try:
            job = actions.start_draft(
                by=request.membership, title=form.cleaned_data["title"], wanted=form.wanted()
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return redirect("studio-step", job.pk, Slug.TYPE)
    context = {"list": drafts_of(request.membership), "form": form}
    return render(request, LIST, context, status=UNUSABLE)
