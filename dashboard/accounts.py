"""How allauth behaves here: people come by invitation, sign-up is closed."""

from __future__ import annotations

from typing import ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from django.http import HttpRequest


class Adapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is wrong.",
        "too_many_login_attempts": "Too many wrong passwords. The door opens in a few minutes.",
        "account_inactive": "This account is switched off. An owner or admin can switch it on.",
        "invalid_password_reset": "This link works no more. A new one is sent in a minute.",
        "incorrect_password": "This is not your password.",
        "enter_current_password": "This is not your present password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False
