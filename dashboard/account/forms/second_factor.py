"""The second factor: its codes and passkeys at sign-in, its set-up."""

from __future__ import annotations

from typing import Any

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.internal.auth import validate_totp_code
from allauth.mfa.utils import decrypt
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    LoginWebAuthnForm,
)
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import ValidationError

from dashboard.account.sign_in_history import record_limited_sign_in, record_sign_in
from dashboard.account.sign_in_limits import consume_code_attempt
from dashboard.account.totp_clock import CODE_USED, WRONG_CODE, explain_wrong_code
from dashboard.models import SignInOutcome, User
from dashboard.shared.forms import PortalForm
from dashboard.shared.second_factor import MALFORMED_CREDENTIAL
from dashboard.shared.text_validation import reject_invisible

TOO_MANY_CODES = "Too many wrong codes. Wait 5 minutes, then enter a new one."
PASSKEY_REFUSED = "This passkey was not accepted. Try again, or sign in in another way."
PASSKEY_NOT_ADDED = "The passkey was not accepted, nothing was added. Try again."
MAX_PASSKEY_NAME_CHARS = 60
CODE_LIFETIME_S = 30 * (2 * settings.MFA_TOTP_TOLERANCE + 1)  # for which a code is accepted


class SignInCodeForm(PortalForm, AuthenticateForm):  # type: ignore[misc]
    """A code of the app, or a recovery code. Wrong ones are limited and recorded."""

    user: User

    def clean_code(self) -> str:
        request, code = context.request, self.cleaned_data["code"]
        usage = consume_code_attempt(request, self.user)
        if usage is None:
            outcome = SignInOutcome.SECOND_FACTOR_LIMITED
            record_limited_sign_in(request, self.user.email, outcome)
            raise ValidationError(TOO_MANY_CODES)
        try:
            super().clean_code()
            self.check_first_use(code)
        except ValidationError as error:
            outcome = SignInOutcome.WRONG_SECOND_FACTOR
            record_sign_in(request, outcome, self.user.email, self.user)
            message = CODE_USED if error.message == CODE_USED else explain_code(self.user, code)
            raise ValidationError(message) from None
        usage.rollback()
        return str(code)

    def check_first_use(self, code: str) -> None:
        """allauth refuses a used code for 30 s, but accepts it for longer with our tolerance."""
        key = f"second-factor-used:{self.user.pk}:{''.join(filter(str.isdigit, code))}"
        if not cache.add(key, True, CODE_LIFETIME_S):
            raise ValidationError(CODE_USED)


def explain_code(user: User, code: str) -> str:
    app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).first()
    return explain_wrong_code(decrypt(app.data["secret"]), code) if app else WRONG_CODE


class SignInPasskeyForm(PortalForm, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as the second factor."""

    hidden_field_names = {"credential": "the passkey"}

    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()
        except MALFORMED_CREDENTIAL:
            outcome = SignInOutcome.WRONG_SECOND_FACTOR
            record_sign_in(context.request, outcome, self.user.email, self.user)
            raise ValidationError(PASSKEY_REFUSED) from None


class PasskeyLoginForm(PortalForm, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey instead of address and password. Whose it was to be is not known if it fails."""

    hidden_field_names = {"credential": "the passkey"}

    def clean_credential(self) -> Authenticator:
        try:
            return super().clean_credential()
        except MALFORMED_CREDENTIAL:
            raise ValidationError(PASSKEY_REFUSED) from None


class AppSetUpForm(PortalForm, ActivateTOTPForm):  # type: ignore[misc]
    """The first code of an app: it counts only after this."""

    code = forms.CharField(
        label="Enter the six digits it shows now.",
        error_messages={"required": "Enter the six digits that the app shows."},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)  # allauth's form takes `user`

    def clean_code(self) -> str:
        code = str(self.cleaned_data["code"])
        if not validate_totp_code(self.secret, code):
            raise ValidationError(explain_wrong_code(self.secret, code))
        return code


class PasskeyForm(PortalForm, AddWebAuthnForm):  # type: ignore[misc]
    """A passkey that the browser has made, and its name."""

    hidden_field_names = {"credential": "the passkey", "passwordless": "its kind"}
    name = forms.CharField(label="Name", max_length=MAX_PASSKEY_NAME_CHARS, required=False)
    credential = forms.JSONField(widget=forms.HiddenInput)
    passwordless = forms.BooleanField(widget=forms.HiddenInput, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reject_invisible(self.fields["name"])

    def clean(self) -> dict[str, Any]:
        try:
            return super().clean() or {}
        except MALFORMED_CREDENTIAL:
            raise ValidationError(PASSKEY_NOT_ADDED) from None


class PasskeyNameForm(PortalForm):
    name = forms.CharField(label="Name", max_length=MAX_PASSKEY_NAME_CHARS)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        reject_invisible(self.fields["name"])
