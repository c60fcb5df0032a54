"""How allauth behaves here: sign-up is closed."""

from __future__ import annotations

from typing import ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is wrong.",
        "too_many_login_attempts": "Too many wrong passwords. Wait 5 minutes, or reset your password.",
        "account_inactive": "This account is disabled. Ask an owner or admin of your team.",
        "invalid_password_reset": "This link is no longer valid.",
        "enter_current_password": "This is not your current password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
