"""The page that compares versions, and the choice of one of them."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.library import actions
from dashboard.library.queries.versions import load_versions_page
from dashboard.library.views.selection import keep_for_undo
from dashboard.shared.access import fetch_version_group
from dashboard.shared.http import TeamRequest
from dashboard.shared.query_params import parse_uuid
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, PRICES_TEMPLATE = "library/versions/page.html", "library/versions/_prices.html"


@require_safe
def versions(request: TeamRequest, group_id: UUID) -> HttpResponse:
    """Render the versions side by side; `?part=prices` returns their prices alone."""
    group = fetch_version_group(request, group_id)
    page = load_versions_page(group, request.membership)
    template = PRICES_TEMPLATE if request.GET.get("part") == "prices" else PAGE_TEMPLATE
    return render(request, template, {"page": page})


@require_POST
def choose_version(request: TeamRequest, group_id: UUID) -> HttpResponse:
    """Keep one version and hide the others; the message can undo it."""
    group = fetch_version_group(request, group_id, Permission.RENDER)
    kept = group.versions.filter(job=parse_uuid(request.POST.get("keep", ""))).first()
    if kept is None:
        raise Http404("This video is not one of the versions.")
    others = [version.job_id for version in group.versions.all() if version.pk != kept.pk]
    try:
        hidden = actions.set_videos_hidden(by=request.membership, job_ids=others, is_hidden=True)
    except Refusal as refused:
        messages.error(request, refused.sentence)
        return redirect("video-versions", group.pk)
    if hidden:
        undo_url = keep_for_undo(request, hidden=[str(pk) for pk in hidden])
        text = f"Version {kept.number} is kept. The others are hidden."
        messages.info(request, text, extra_tags=undo_url)
    return redirect("video-versions", group.pk)
