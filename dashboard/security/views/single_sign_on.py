"""Views of the single sign-on card, for owners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.models import SingleSignOn
from dashboard.security.actions.single_sign_on import (
    remove_single_sign_on,
    require_single_sign_on,
    save_single_sign_on,
    set_client_secret,
)
from dashboard.security.forms.single_sign_on import (
    ClientSecretForm,
    RequirementForm,
    SingleSignOnForm,
    edit_rows,
)
from dashboard.security.views.page import (
    SecurityChange,
    SecurityDialog,
    render_security_page,
    save_if_confirmed,
)
from dashboard.shared.access import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.openid.authorization import start_authorization
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission

SAVED_TEXT = "Single sign-on saved. Test it before you require it."
SECRET_SET_TEXT = "Client secret set. Test it."  # noqa: S105
SECRET_WAITS_TEXT = "The new secret counts as soon as a test passes with it."  # noqa: S105
REQUIRED_TEXT = "Single sign-on is required of everyone but owners now."
NOT_REQUIRED_TEXT = "Single sign-on is not required any more."
REMOVED_TEXT = "Single sign-on was removed. Members sign in with a password or a passkey."


@sensitive_post_parameters("password")
@require_POST
def update_settings(request: TeamRequest) -> HttpResponse:
    """Save the settings; with `edit`, show the form with a row more or less instead."""
    check_permission(request.membership, Permission.MANAGE_TEAM)
    row = SingleSignOn.objects.filter(team=request.team).first()
    if edit := request.POST.get("edit", ""):
        edited = edit_rows(request.POST.dict(), edit)
        form = SingleSignOnForm(request, row, edited=edited)
        return render_security_page(request, sso_form=form)
    form = SingleSignOnForm(request, row, request.POST)
    if not form.is_valid() and not form.lacks_confirmation:
        return render_security_page(request, sso_form=form, status=200 if request.htmx else 422)

    def act() -> str:
        changed = save_single_sign_on(by=request.membership, new=form.settings)
        return SAVED_TEXT if changed else ""

    change = SecurityChange("Save single sign-on?", "Save", act)
    return save_if_confirmed(request, form, change)


class ReplaceSecret(SecurityDialog):
    template_name = "security/_client_secret.html"
    secret_fields = ("client_secret", "password")

    def fetch(self) -> None:
        check_permission(self.by, Permission.MANAGE_TEAM)

    def build_form(self, data: Mapping[str, Any] | None = None) -> ClientSecretForm:
        return ClientSecretForm(self.request, data)

    def save(self, form: ClientSecretForm) -> str:
        waits = set_client_secret(by=self.by, secret=form.cleaned_data["client_secret"])
        return SECRET_WAITS_TEXT if waits else SECRET_SET_TEXT


@require_POST
def start_test(request: TeamRequest) -> HttpResponse:
    """Send this tab to the provider; the result comes back to
    dashboard/single_sign_on/views.py."""
    check_permission(request.membership, Permission.MANAGE_TEAM)
    row = SingleSignOn.objects.select_related("team").filter(team=request.team).first()
    if row is None:
        return redirect("security")
    try:
        url = start_authorization(request, row, purpose="test")
    except ProviderFailed as failure:
        context = {"result": {"passed": False, "sentence": failure.sentence}, "team": row.team}
        return render(request, "single_sign_on/tested.html", context, status=422)
    context = {"url": url, "host": row.host, "team": row.team}
    return render(request, "single_sign_on/continue.html", context)


@sensitive_post_parameters("password")
@require_POST
def switch_requirement(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_TEAM)
    form = RequirementForm(request, request.POST)
    is_required = "is_required" in request.POST

    def act() -> str:
        if not require_single_sign_on(by=request.membership, is_required=is_required):
            return ""
        return REQUIRED_TEXT if is_required else NOT_REQUIRED_TEXT

    title = "Require single sign-on?" if is_required else "Stop requiring single sign-on?"
    label = "Require single sign-on" if is_required else "Stop requiring it"
    return save_if_confirmed(request, form, SecurityChange(title, label, act))


@sensitive_post_parameters("password")
@require_POST
def remove(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.MANAGE_TEAM)

    def act() -> str:
        remove_single_sign_on(by=request.membership)
        return REMOVED_TEXT

    change = SecurityChange("Remove single sign-on?", "Remove single sign-on", act)
    return save_if_confirmed(request, RecentAuthenticationForm(request, request.POST), change)
