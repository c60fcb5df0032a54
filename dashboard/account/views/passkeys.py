"""Views that add, rename and remove a passkey, and that let a form be confirmed with one."""

from __future__ import annotations

import json

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth, flows
from django.contrib import messages
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_safe

from dashboard.account.actions.second_factor import add_passkey, remove_passkey
from dashboard.account.forms.second_factor import PasskeyForm, PasskeyNameForm
from dashboard.account.queries.devices import describe_device
from dashboard.account.views.account import (
    render_account_dialog,
    render_account_page,
    require_recent_authentication,
)
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from proxyapi.refusals import Refusal

NEW_PASSKEY_TEMPLATE = "account/_passkey_new.html"
NAME_TEMPLATE, REMOVAL_TEMPLATE = "account/_passkey_name.html", "account/_passkey_removal.html"


@sensitive_variables("codes")
@never_cache
@allow_get_or_post
def create_passkey(request: TeamRequest) -> HttpResponse:
    """Store the passkey that the browser has made. The first second factor brings recovery codes,
    which only this response contains."""
    if dialog := require_recent_authentication(request):
        return dialog
    device = describe_device(request.headers.get("User-Agent", ""))
    data = request.POST if request.method == "POST" else None
    form = PasskeyForm(data, user=request.user, initial={"name": device.name})
    if request.method == "POST" and form.is_valid():
        name, credential = form.cleaned_data["name"], form.cleaned_data["credential"]
        codes = add_passkey(request, name, credential)
        return render_account_page(request, new_codes=codes) if codes else redirect("account")
    options = flows.begin_registration(request, request.user, passwordless=True)
    context = {"form": form, "options": json.dumps(options["publicKey"])}
    return render_account_dialog(
        request, NEW_PASSKEY_TEMPLATE, context, is_invalid=bool(form.errors)
    )


@never_cache
@require_safe
def passkey_options(request: TeamRequest) -> HttpResponse:
    """Return what the browser needs to confirm with a passkey of the reader; it counts once."""
    return JsonResponse({"request_options": auth.begin_authentication(request.user)})


@allow_get_or_post
def rename_passkey(request: TeamRequest, passkey_id: int) -> HttpResponse:
    passkey = fetch_passkey(request, passkey_id)
    data = request.POST if request.method == "POST" else None
    form = PasskeyNameForm(data, initial={"name": passkey.wrap().name})
    if request.method == "POST" and form.is_valid():
        flows.rename_authenticator(request, passkey, form.cleaned_data["name"])
        return redirect("account")
    context = {"form": form, "passkey": passkey}
    return render_account_dialog(request, NAME_TEMPLATE, context, is_invalid=bool(form.errors))


@sensitive_post_parameters("password")
@allow_get_or_post
def delete_passkey(request: TeamRequest, passkey_id: int) -> HttpResponse:
    passkey = fetch_passkey(request, passkey_id)
    form = RecentAuthenticationForm(request, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            remove_passkey(request, passkey)
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
        return redirect("account")
    context = {"form": form, "passkey": passkey}
    return render_account_dialog(request, REMOVAL_TEMPLATE, context, is_invalid=bool(form.errors))


def fetch_passkey(request: TeamRequest, passkey_id: int) -> Authenticator:
    """Return a passkey of the reader."""
    passkeys = Authenticator.objects.filter(user=request.user, type=Authenticator.Type.WEBAUTHN)
    if (passkey := passkeys.filter(pk=passkey_id).first()) is None:
        raise Http404("This passkey does not exist.")
    return passkey
