"""Views that add, rename and remove a passkey, and that let a form be confirmed with one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.internal import auth, flows
from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from dashboard.account.actions.second_factor import add_passkey, remove_passkey
from dashboard.account.forms.second_factor import PasskeyForm, PasskeyNameForm
from dashboard.account.queries.devices import describe_device
from dashboard.account.views.account import (
    AccountDialog,
    render_account_page,
    require_recent_authentication,
)
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest


@method_decorator(never_cache, "dispatch")
class AddPasskey(AccountDialog):
    """Store the passkey that the browser has made. The first second factor brings recovery codes,
    which only this answer contains."""

    template_name = "account/_passkey_new.html"

    def fetch(self) -> HttpResponse | None:
        return require_recent_authentication(self.request)

    def build_form(self, data: Mapping[str, Any] | None = None) -> PasskeyForm:
        device = describe_device(self.request.headers.get("User-Agent", ""))
        return PasskeyForm(data, user=self.request.user, initial={"name": device.name})

    def save(self, form: PasskeyForm) -> str:
        name, credential = form.cleaned_data["name"], form.cleaned_data["credential"]
        self.codes = add_passkey(self.request, name, credential)
        return ""

    def answer_saved(self) -> HttpResponse:
        if not self.codes:
            return super().answer_saved()
        return render_account_page(self.request, new_codes=self.codes)

    def load_dialog(self) -> Mapping[str, Any]:
        options = flows.begin_registration(self.request, self.request.user, passwordless=True)
        return {"options": json.dumps(options["publicKey"])}


@never_cache
@require_safe
def passkey_options(request: TeamRequest) -> HttpResponse:
    """Return what the browser needs to confirm with a passkey of the reader; it counts once."""
    return JsonResponse({"request_options": auth.begin_authentication(request.user)})


class PasskeyDialog(AccountDialog):
    def fetch(self, passkey_id: int) -> None:
        own = Authenticator.objects.filter(user=self.request.user)
        self.passkey = get_object_or_404(own, type=Authenticator.Type.WEBAUTHN, pk=passkey_id)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"passkey": self.passkey}


class RenamePasskey(PasskeyDialog):
    template_name = "account/_passkey_name.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> PasskeyNameForm:
        return PasskeyNameForm(data, initial={"name": self.passkey.wrap().name})

    def save(self, form: PasskeyNameForm) -> str:
        flows.rename_authenticator(self.request, self.passkey, form.cleaned_data["name"])
        return ""


class RemovePasskey(PasskeyDialog):
    template_name = "account/_passkey_removal.html"

    def save(self, form: PortalForm) -> str:
        remove_passkey(self.request, self.passkey)
        return ""
