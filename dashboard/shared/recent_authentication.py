"""Ask people to confirm that it is them before a dangerous action, unless they did so within
ACCOUNT_REAUTHENTICATION_TIMEOUT: at sign-in or in such a form.

The question is a part of the action's own form, so nothing that was entered is lost. It offers what
the person has: their password, a passkey, and, if they have no password, a new sign-in at the
provider of the single sign-on that their session began with. The browser leaves the form for that,
so its values wait in the session (`openid/confirmation.py`).
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.core.internal import ratelimit
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import ReauthenticateWebAuthnForm
from django import forms
from django.conf import settings

from dashboard.models import SingleSignOn
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.openid.confirmation import (
    ATTEMPTS,
    CONFIRMED_BEFORE_PRESS,
    KeptForm,
    leave_for_provider,
    record_refused_confirmation,
    take_kept_values,
)
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.session_teams import SINGLE_SIGN_ON_METHOD, find_session_provider
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.shared.second_factor import MALFORMED_CREDENTIAL

PROVIDER_BUTTON = "confirm_at_provider"  # of the form, as the hidden field of the passkey
CREDENTIAL_FIELD = "credential"
WRONG_PASSWORD = "This is not your password. Nothing was changed."  # noqa: S105  # a sentence
WRONG_PASSKEY = "This passkey was not accepted. Nothing was changed."
TOO_MANY_ATTEMPTS = "Too many attempts failed. Nothing was changed. Wait 5 minutes."
ALREADY_CONFIRMED = "You have confirmed already that it is you. Press the button again."
NO_MEANS = (
    "Nothing was changed: it has to be confirmed, and you have no password and no passkey. Sign "
    "out, and set a password with “Forgot password?” on the sign-in page."
)


@dataclass(frozen=True, slots=True)
class ConfirmationMeans:
    """What a person can confirm with that it is them: their provider only without a password."""

    has_password: bool
    has_passkey: bool
    provider: SingleSignOn | None

    def request_text(self, purpose: str = "") -> str:
        """Return the sentence that asks for one of them; `purpose` says what for."""
        ways = ["enter your password"] if self.has_password else []
        ways += ["use a passkey"] if self.has_passkey else []
        ways += [f"confirm with {self.provider.host}"] if self.provider else []
        if not ways:
            return NO_MEANS
        text = " or ".join(ways)
        return f"{text[0].upper()}{text[1:]}{' ' if purpose else ''}{purpose}."


def is_authentication_recent(request: TeamRequest) -> bool:
    """Whether the person proved within ACCOUNT_REAUTHENTICATION_TIMEOUT seconds that it is them."""
    records = get_authentication_records(request, request.user)
    proved_at = max(map(proof_time_s, records), default=0)
    return bool(time.time() - proved_at < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)


def proof_time_s(record: Mapping[str, Any]) -> float:
    """Return when the person proved it (since 1970). Single sign-on counts from when the provider
    asked them, which may be days before it sent them here."""
    at = float(record["at"])
    if record.get("method") == SINGLE_SIGN_ON_METHOD and not record.get("reauthenticated"):
        return min(at, float(record.get("asked_at_s", 0)))
    return at


def find_confirmation_means(request: TeamRequest) -> ConfirmationMeans:
    user = request.user
    passkeys = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    has_password = user.has_usable_password()
    provider = None if has_password else find_session_provider(request.session, user.pk)
    return ConfirmationMeans(has_password, passkeys.exists(), provider)


class RecentAuthenticationForm(PortalForm):
    """A form that asks the reader to confirm that it is them, if they did not do so recently.

    `lacks_confirmation`: all else in the form is valid.
    """

    confirmation_purpose = ""
    confirmed_text = CONFIRMED_BEFORE_PRESS
    password = forms.CharField(
        label="Your password",
        required=False,  # another way may be there, and each missing one has the same sentence
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )

    def __init__(
        self, request: TeamRequest, data: Any = None, *, initial: Any = None, **options: Any
    ) -> None:
        kept = take_kept_values(request, type(self).__name__) if data is None else {}
        super().__init__(data, initial={**(initial or {}), **kept}, **options)
        self.request = request
        self.lacks_confirmation = False
        self.asks_confirmation = not is_authentication_recent(request)
        if not (self.asks_confirmation and request.user.has_usable_password()):
            del self.fields["password"]

    @cached_property
    def means(self) -> ConfirmationMeans:
        return find_confirmation_means(self.request)

    def visible_fields(self) -> list[forms.BoundField]:
        """Return the fields without the password, which stands among the ways to confirm."""
        return [field for field in super().visible_fields() if field.name != "password"]

    @property
    def return_path(self) -> str:
        """Return the page of the form, where the browser comes back to from the provider."""
        return safe_return_path(self.request, self.request.build_absolute_uri(self.request.path))

    @property
    def has_submit_button(self) -> bool:
        """Whether the action's own button can confirm; a passkey and a provider have their own."""
        return not self.asks_confirmation or self.means.has_password

    @property
    def was_asked(self) -> bool:
        """Whether the form was sent with the question in it."""
        return CREDENTIAL_FIELD in self.data or "password" in self.data

    def must_confirm(self) -> bool:
        return self.asks_confirmation

    def clean(self) -> dict[str, Any]:
        """Confirm last: a form with another error does not use up an attempt."""
        cleaned: dict[str, Any] = super().clean() or {}
        password = cleaned.pop("password", "")
        if self.must_confirm() and not self.errors and (sentence := self.confirm(password)):
            self.lacks_confirmation = True
            self.add_error("password" if "password" in self.fields else None, sentence)
        if PROVIDER_BUTTON in self.data and not self.must_confirm():  # the action was not pressed
            self.add_error(None, ALREADY_CONFIRMED)
        return cleaned

    def confirm(self, password: str) -> str:
        """Return why the person is not confirmed, "" if they are."""
        credential = self.data.get(CREDENTIAL_FIELD, "")
        provider = self.means.provider if PROVIDER_BUTTON in self.data else None
        if not (password or credential or provider):
            return self.means.request_text(self.confirmation_purpose)
        usage = ratelimit.consume(self.request, **ATTEMPTS)
        if usage is None:
            return self.refuse(TOO_MANY_ATTEMPTS, "too many attempts")
        if provider:
            sentence = self.continue_at_provider(provider)
            usage.rollback()
            return sentence
        if credential and not is_own_passkey(self.request, credential):
            return self.refuse(WRONG_PASSKEY, "wrong passkey")
        if not credential:
            if not self.request.user.check_password(password):
                return self.refuse(WRONG_PASSWORD, "wrong password")
            reauthenticate_by_password(self.request)
        usage.rollback()
        return ""

    def refuse(self, sentence: str, reason: str) -> str:
        record_refused_confirmation(self.request.membership, self.request.path, reason)
        return sentence

    def continue_at_provider(self, provider: SingleSignOn) -> str:
        """Send the browser there, with what was entered kept; return why that is not possible."""
        names = [name for name, field in self.fields.items() if not is_secret(field)]
        values = {name: self.data[name] for name in names if name in self.data}
        kept = KeptForm(type(self).__name__, self.return_path, values, self.confirmed_text)
        try:
            response = leave_for_provider(self.request, provider, kept)
        except ProviderFailed as failure:
            return failure.sentence
        raise ImmediateHttpResponse(response)  # allauth's middleware returns it


def is_secret(field: forms.Field) -> bool:
    return isinstance(field.widget, forms.PasswordInput)


def is_own_passkey(request: TeamRequest, credential: str) -> bool:
    """Whether a passkey of the reader signed the challenge of this session; then it is recorded."""
    form = ReauthenticateWebAuthnForm({CREDENTIAL_FIELD: credential}, user=request.user)
    try:
        if not form.is_valid():
            return False
    except MALFORMED_CREDENTIAL:
        return False
    form.save()
    return True
