"""The form of allauth that Reelroom replaces."""

from __future__ import annotations

from allauth.account.forms import ResetPasswordForm
from django.http import HttpRequest

from dashboard.tasks import send_password_reset


class PasswordResetForm(ResetPasswordForm):  # type: ignore[misc]
    """Does the same work for every address, so that neither the answer nor its time tells whether
    an account has it. The worker looks for the account."""

    def save(self, request: HttpRequest, **_: object) -> str:
        address: str = self.cleaned_data["email"]
        send_password_reset.apply_async((address,), retry=False)
        return address
