"""Views that set up an authenticator app, and that make new recovery codes."""

from __future__ import annotations

from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import SECRET_SESSION_KEY, clear_totp_secret
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from dashboard.account.actions.second_factor import add_app, remove_app, renew_recovery_codes
from dashboard.account.forms.second_factor import AppSetUpForm
from dashboard.account.queries.app_set_up import build_app_set_up
from dashboard.account.views.account import (
    render_account_dialog,
    render_account_page,
    require_recent_authentication,
)
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm

APP_REMOVAL_TEMPLATE = "account/_app_removal.html"
CODES_RENEWAL_TEMPLATE = "account/_codes_renewal.html"


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


@sensitive_post_parameters("password")
@allow_get_or_post
def turn_off_app(request: TeamRequest) -> HttpResponse:
    authenticator = get_object_or_404(
        Authenticator, user=request.user, type=Authenticator.Type.TOTP
    )
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        remove_app(request, authenticator)
        return redirect("account")
    return render_account_dialog(
        request, APP_REMOVAL_TEMPLATE, {"form": form}, is_invalid=bool(form.errors)
    )


@sensitive_variables("codes")
@sensitive_post_parameters("password")
@never_cache
@allow_get_or_post
def renew_codes(request: TeamRequest) -> HttpResponse:
    """Replace the recovery codes. Only this response contains the new ones."""
    get_object_or_404(Authenticator, user=request.user, type=Authenticator.Type.RECOVERY_CODES)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        codes = renew_recovery_codes(request)
        return render_account_page(request, new_codes=codes)
    return render_account_dialog(
        request, CODES_RENEWAL_TEMPLATE, {"form": form}, is_invalid=bool(form.errors)
    )


def find_app(request: TeamRequest) -> Authenticator | None:
    apps = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.TOTP)
    return apps.first()
