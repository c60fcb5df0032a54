"""The allauth adapter: sign-up is closed, wrong passwords are limited and recorded."""

from __future__ import annotations

from typing import Any, ClassVar

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.account.internal.stagekit import clear_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.account.authentication_methods import authentication_method
from dashboard.account.sign_in_history import (
    record_bypassed_single_sign_on,
    record_limited_sign_in,
    record_sign_in,
)
from dashboard.account.sign_in_limits import consume_sign_in_attempt, remember_client
from dashboard.models import SignInOutcome, User
from dashboard.shared.openid.session_teams import find_required_single_sign_on


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages: ClassVar[dict[str, str]] = {
        **DefaultAccountAdapter.error_messages,
        "email_password_mismatch": "The e-mail address or the password is wrong.",
        "too_many_login_attempts": (
            "Too many wrong passwords. Wait 5 minutes, or reset your password."
        ),
        "account_inactive": "This account is disabled. Ask an owner or admin of your team.",
        "invalid_password_reset": "This link is no longer valid.",
        "enter_current_password": "This is not your current password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Replace allauth's own limits. On a right password allauth rolls back
        `_login_failed_rl_usage`."""
        self._login_failed_rl_usage = consume_sign_in_attempt(request, credentials["email"])
        if self._login_failed_rl_usage is None:
            record_limited_sign_in(request, credentials["email"])
            raise self.validation_error("too_many_login_attempts")

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        record_sign_in(request, SignInOutcome.WRONG_PASSWORD, credentials["email"])

    def respond_user_inactive(self, request: HttpRequest, user: User) -> HttpResponse:
        record_sign_in(request, SignInOutcome.DISABLED, user.email, user)
        response: HttpResponse = super().respond_user_inactive(request, user)
        return response

    def pre_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse | None:
        """Refuse a password or passkey where all teams of the user require single sign-on."""
        response: HttpResponse | None = super().pre_login(request, user, **more)
        if response is None and (required := find_required_single_sign_on(request.session, user)):
            record_sign_in(request, SignInOutcome.SSO_REQUIRED, user.email, user)
            clear_login(request)
            context = {"single_sign_on": required}
            response = render(request, "account/single_sign_on_required.html", context, status=403)
        return response

    def post_login(self, request: HttpRequest, user: User, **more: Any) -> HttpResponse:
        method = authentication_method(get_authentication_records(request, user))
        record_sign_in(request, SignInOutcome.SIGNED_IN, user.email, user, method)
        record_bypassed_single_sign_on(request, user)
        response: HttpResponse = super().post_login(request, user, **more)
        remember_client(response, user.email)
        return response
