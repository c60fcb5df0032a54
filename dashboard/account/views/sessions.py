"""Views that end sessions of one's own."""

from __future__ import annotations

from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from dashboard.account.actions.sessions import end_other_sessions, end_session
from dashboard.shared.http import TeamRequest


@require_POST
def end_one_session(request: TeamRequest, session_id: int) -> HttpResponse:
    """End another session; the current one ends by signing out."""
    others = UserSession.objects.filter(user=request.user)
    others = others.exclude(session_key=request.session.session_key)
    end_session(request, get_object_or_404(others, pk=session_id))
    messages.success(request, "The session was ended.")
    return redirect("account")


@require_POST
def end_all_other_sessions(request: TeamRequest) -> HttpResponse:
    ended = end_other_sessions(request)
    sentence = {0: "You are signed in only here.", 1: "The other session was ended."}
    messages.success(request, sentence.get(ended, f"{ended} other sessions were ended."))
    return redirect("account")
