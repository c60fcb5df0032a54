"""Views of the list of voices, its stars, and the slots of an account."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.shared.access import check_permission, fetch_account
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.lists import render_list
from dashboard.shared.roles import Permission
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.voices import actions
from dashboard.voices.queries.own_voices import load_own_voices
from dashboard.voices.queries.voice_list import VoiceListFilters, find_account, load_voices_page
from dashboard.voices.slots import load_slots_card

OWN_TEMPLATE, SLOTS_TEMPLATE = "voices/_own.html", "voices/_slots.html"
STAR_TEMPLATE = "voices/_star.html"


@require_safe
@vary_on_headers("HX-Request")
def voices(request: TeamRequest) -> HttpResponse:
    """Render the page; `?part=own` returns the team's voices, which the page fetches again."""
    if request.GET.get("part") == "own":
        return render(request, OWN_TEMPLATE, {"own": load_own_voices(request.membership)})
    filters = VoiceListFilters.parse(request.GET.dict())
    context = load_voices_page(request.membership, filters)
    return render_list(request, "voices/list.html", "voices/_service_list.html", context)


@require_POST
def change_favourite(request: TeamRequest) -> HttpResponse:
    """Put a star on a voice of the reader's account, or take it off."""
    check_permission(request.membership, Permission.VIEW)
    voice_id = request.POST.get("voice_id", "").replace("\0", "")[:64]
    is_favourite, (account, _) = "on" in request.POST, find_account(request.membership)
    if account is not None and voice_id:
        actions.set_favourite(
            by=request.membership, account=account, voice_id=voice_id, is_favourite=is_favourite
        )
    if not request.htmx:
        return redirect("voices")
    context = {"id": voice_id, "name": request.POST.get("name", ""), "is_favourite": is_favourite}
    return render(request, STAR_TEMPLATE, context)


@allow_get_or_post
def read_slots(request: TeamRequest, account_id: UUID) -> HttpResponse:
    """Render the slots as last read; POST has them read again by a worker."""
    needed = Permission.RECHECK if request.method == "POST" else Permission.VIEW
    account, _ = fetch_account(request, str(account_id), needed)
    if account is None:
        return redirect("voices")
    if request.method == "POST":
        actions.read_slots_again(by=request.membership, account=account)
        if not request.htmx:
            messages.info(request, "The slots are being read.")
            return redirect(safe_return_path(request, request.headers.get("Referer", "")))
    context = {"slots": load_slots_card(account), "may_check": True}
    return render(request, SLOTS_TEMPLATE, context)
