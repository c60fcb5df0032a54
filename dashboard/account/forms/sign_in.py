"""The forms of allauth, with the portal's validation messages."""

from __future__ import annotations

from allauth.account import forms as account
from django.forms import Field
from django.http import HttpRequest

from dashboard.models.email_address import address_key
from dashboard.shared.enqueue import RESET_MAIL_TASK, enqueue_now
from dashboard.shared.forms import PortalForm

RESET_EXPIRES_S = 3600  # an older mail request is dropped; the user requests it again
REQUIRED_MESSAGES = {
    "login": "Enter your e-mail address.",
    "email": "Enter your e-mail address.",
    "password": "Enter your password.",
    "oldpassword": "Enter your current password.",
    "password1": "Enter a new password.",
    "password2": "Repeat the new password.",
}


class AccountForm(PortalForm):
    def messages_for_field(self, name: str, field: Field) -> dict[str, str]:
        field_messages = super().messages_for_field(name, field)
        return {
            **field_messages,
            "required": REQUIRED_MESSAGES.get(name, field_messages["required"]),
        }


class LoginForm(AccountForm, account.LoginForm):  # type: ignore[misc]
    def clean_login(self) -> str:
        """Return the stored form: allauth compares without case, in which other letters are equal
        to ASCII ones on some databases, and each spelling would be limited alone."""
        return address_key(super().clean_login())


class ChangePasswordForm(AccountForm, account.ChangePasswordForm):  # type: ignore[misc]
    pass


class ResetPasswordForm(AccountForm, account.ResetPasswordForm):  # type: ignore[misc]
    """Do the same work for every address, so that neither the response nor its time reveals whether
    an account has it. The worker searches for the account."""

    def save(self, request: HttpRequest, **_: object) -> str:
        address: str = self.cleaned_data["email"]
        enqueue_now(RESET_MAIL_TASK, address, expires_s=RESET_EXPIRES_S)
        return address


class ResetPasswordKeyForm(AccountForm, account.ResetPasswordKeyForm):  # type: ignore[misc]
    pass
