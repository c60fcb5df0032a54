"""Views that set up an authenticator app, and that make new recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, clear_totp_secret
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from dashboard.account.actions.second_factor import add_app, remove_app, renew_recovery_codes
from dashboard.account.forms.second_factor import AppSetUpForm
from dashboard.account.queries.app_set_up import build_app_set_up
from dashboard.account.views.account import (
    AccountDialog,
    render_account_page,
    require_recent_authentication,
)
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, allow_get_or_post


@sensitive_variables("form", "codes")
@sensitive_post_parameters("code")
@never_cache
@allow_get_or_post
def set_up_app(request: TeamRequest) -> HttpResponse:
    """Show the key and its QR code; the app counts once a code of it was entered. Only this
    response contains the recovery codes."""
    if find_app(request) is not None:
        return redirect("account")
    is_started = request.method == "POST" and SECRET_SESSION_KEY in request.session
    if not is_started and (dialog := require_recent_authentication(request)):
        return dialog
    form = AppSetUpForm(request.POST if request.method == "POST" else None, user=request.user)
    if request.method == "POST" and form.is_valid():
        codes = add_app(request, form)
        return render_account_page(request, new_codes=codes) if codes else redirect("account")
    set_up = build_app_set_up(request.user, form.secret)
    status = 422 if form.errors else 200
    return render_account_page(request, status=status, set_up=set_up, set_up_form=form)


@require_POST
def cancel_set_up(request: TeamRequest) -> HttpResponse:
    clear_totp_secret(request)
    return redirect("account")


class TurnOffApp(AccountDialog):
    template_name = "account/_app_removal.html"

    def fetch(self) -> None:
        apps = Authenticator.objects.filter(type=Authenticator.Type.TOTP)
        self.app = get_object_or_404(apps, user=self.request.user)

    def save(self, form: PortalForm) -> str:
        remove_app(self.request, self.app)
        return ""


@method_decorator(never_cache, "dispatch")
class RenewCodes(AccountDialog):
    """Replace the recovery codes. Only the answer to POST contains the new ones."""

    template_name = "account/_codes_renewal.html"

    def fetch(self) -> None:
        kind = Authenticator.Type.RECOVERY_CODES
        get_object_or_404(Authenticator, user=self.request.user, type=kind)

    def save(self, form: PortalForm) -> str:
        self.codes = renew_recovery_codes(self.request)
        return ""

    def answer_saved(self) -> HttpResponse:
        return render_account_page(self.request, new_codes=self.codes)


def find_app(request: TeamRequest) -> Authenticator | None:
    apps = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.TOTP)
    return apps.first()
