"""The operations page of owners and admins, and the stop of all charges."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from dashboard.operations.actions import resume_charges, stop_charges
from dashboard.operations.key_rotation import start_key_rotation
from dashboard.operations.queries.encryption_keys import find_key_ids
from dashboard.operations.queries.page import build_operations_page
from dashboard.operations.queries.processes import load_processes
from dashboard.operations.queries.rotation_status import load_rotation_status
from dashboard.shared.access import require_operator, require_visible
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.query_params import clean_text_param
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission
from proxyapi.refusals import Refusal

STOPPED_TEXT = "Charges are stopped. {released}"
ROTATION_TEXT = "The rotation has started. Everything keeps working meanwhile."
ALLOWED_TEXT = "Charges are allowed again."


@require_safe
def operations(request: TeamRequest) -> HttpResponse:
    """The page; `?part=body` and `?part=processes` return what refreshes itself."""
    require_visible(request.membership, Permission.OPERATE)
    part = request.GET.get("part")
    if part == "processes":
        return render(request, "operations/_processes.html", {"processes": load_processes()})
    page = build_operations_page(request.membership)
    template = "operations/_body.html" if part == "body" else "operations/page.html"
    return render(request, template, {"page": page})


@allow_get_or_post
def stop_all_charges(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.OPERATE)
    reason = clean_text_param(request.POST, "reason")

    def act() -> str:
        count = stop_charges(by=request.membership, reason=reason)
        return STOPPED_TEXT.format(released=released_text(count))

    return confirm_and_act(request, "operations/_stop.html", act, reason)


def released_text(count: int) -> str:
    if not count:
        return "None was waiting."
    return "One that waited was released." if count == 1 else f"{count} that waited were released."


@allow_get_or_post
def resume_all_charges(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.OPERATE)

    def act() -> str:
        resume_charges(by=request.membership)
        return ALLOWED_TEXT

    return confirm_and_act(request, "operations/_resume.html", act)


@sensitive_post_parameters("password")
@allow_get_or_post
def rotate_keys(request: TeamRequest) -> HttpResponse:
    """Have workers encrypt every secret of the installation with the newest key."""
    require_visible(request.membership, Permission.OPERATE)
    require_operator(request.user)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            start_key_rotation(by=request.membership)
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            messages.success(request, ROTATION_TEXT)
            return redirect_to(request, "operations")
    status = load_rotation_status(request.membership)
    context = {"form": form, "rotation": status, "key_ids": find_key_ids()}
    code = 422 if form.errors else 200
    return render_operations_dialog(request, "operations/_rotation.html", context, code)


def confirm_and_act(
    request: TeamRequest, dialog: str, act: Callable[[], str], words: str = ""
) -> HttpResponse:
    """On POST run `act`, and say its sentence on the page. On GET, or if it is refused, show the
    dialog: alone for htmx, over the page without JavaScript."""
    error, status = "", 200
    if request.method == "POST":
        try:
            messages.success(request, act())
            return redirect_to(request, "operations")
        except Refusal as refusal:
            error, status = refusal.sentence, 422
    context = {"error": error, "words": words, "tenant": request.team.tenant}
    return render_operations_dialog(request, dialog, context, status)


def render_operations_dialog(
    request: TeamRequest, dialog: str, context: dict[str, object], status: int
) -> HttpResponse:
    """Render the dialog: alone for htmx, over the page without JavaScript."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True}, status=status)
    page = build_operations_page(request.membership)
    context = {**context, "page": page, "dialog": dialog}
    return render(request, "operations/dialog_page.html", context, status=status)
