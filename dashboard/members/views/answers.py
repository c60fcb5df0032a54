"""Carry an action on members out, or say why it was refused."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from dashboard.shared.http import TeamRequest
from proxyapi.refusals import Refusal


def run_and_redirect(
    request: TeamRequest, action: Callable[[], object], done: str, *, undo_url: str = ""
) -> HttpResponse:
    """Carry the action out, show `done` or the refusal, and return to the members."""
    try:
        action()
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    else:
        messages.success(request, done, extra_tags=undo_url)
    return redirect("members")
