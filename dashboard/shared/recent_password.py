"""Ask for the password again before a dangerous action, unless it was given within
ACCOUNT_REAUTHENTICATION_TIMEOUT: at sign-in or in such a form.

The password is a field of the action's own form, so nothing that was entered is lost.
"""

from __future__ import annotations

import time
from typing import Any

from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.flows.reauthentication import reauthenticate_by_password
from allauth.core.internal import ratelimit
from django import forms
from django.conf import settings

from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest

RATE_PER_PERSON = {"password": "5/5m/user"}
WRONG_PASSWORD = "This is not your password. Nothing was changed."  # noqa: S105  # a sentence
TOO_MANY_PASSWORDS = "Too many wrong passwords. Nothing was changed. Wait 5 minutes."


def is_password_recent(request: TeamRequest) -> bool:
    """Whether the password was given within ACCOUNT_REAUTHENTICATION_TIMEOUT seconds. A person who
    has none is not asked."""
    if not request.user.has_usable_password():
        return True
    records = get_authentication_records(request, request.user)
    given_at = [record["at"] for record in records if record.get("method") == "password"]
    age_s = time.time() - max(given_at, default=0)
    return bool(age_s < settings.ACCOUNT_REAUTHENTICATION_TIMEOUT)


class RecentPasswordForm(PortalForm):
    """A form with a field for the password of the reader, if it was not given recently."""

    password = forms.CharField(
        label="Your password",
        strip=False,
        max_length=4096,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
        error_messages={"required": "Enter your password."},
    )

    def __init__(self, request: TeamRequest, data: Any = None, **options: Any) -> None:
        super().__init__(data, **options)
        self.request = request
        if is_password_recent(request):
            del self.fields["password"]

    def clean(self) -> dict[str, Any]:
        """Check the password last: a form with another error does not use up an attempt."""
        cleaned: dict[str, Any] = super().clean() or {}
        if "password" in cleaned and not self.errors:
            self.check_password(cleaned.pop("password"))
        return cleaned

    def check_password(self, password: str) -> None:
        usage = ratelimit.consume(
            self.request, app="recent_password", action="password", config=RATE_PER_PERSON
        )
        if usage is None:
            self.add_error("password", TOO_MANY_PASSWORDS)
        elif not self.request.user.check_password(password):
            self.add_error("password", WRONG_PASSWORD)
        else:
            usage.rollback()
            reauthenticate_by_password(self.request)
