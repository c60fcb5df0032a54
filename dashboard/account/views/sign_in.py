"""The pages of allauth that differ here: sign-in with passkeys, the second factor, a new
password."""

from __future__ import annotations

from typing import Any, cast
from urllib.parse import urlencode

from allauth.account import views as allauth
from allauth.account.internal.stagekit import clear_login
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.views import LoginWebAuthnView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.decorators import login_not_required
from django.core.serializers.json import DjangoJSONEncoder
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.account.sign_in_limits import remember_client
from dashboard.models import User

NO_PASSWORD = "You have no password. “Forgot password?” on the sign-in page sets one."  # noqa: S105


class SecondFactorView(AuthenticateView):  # type: ignore[misc]
    """The code or passkey after the password."""

    template_name = "account/second_factor.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Add the options for the browser, if the person has a passkey."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        user = self.stage.login.user
        has_app = Authenticator.objects.filter(user=user, type=Authenticator.Type.TOTP).exists()
        options = context["js_data"]["request_options"]["publicKey"]
        has_passkey = bool(options.get("allowCredentials"))
        encoded = DjangoJSONEncoder().encode(options) if has_passkey else ""
        return {**context, "passkey_options": encoded, "has_app": has_app}


class PasskeySignInView(LoginWebAuthnView):  # type: ignore[misc]
    """Sign-in by a passkey alone. GET with `Accept: application/json` returns the options."""

    def form_invalid(self, form: Form) -> HttpResponse:
        for sentence in form.non_field_errors():
            messages.error(self.request, str(sentence))
        page = self.request.POST.get(REDIRECT_FIELD_NAME, "")
        query = f"?{urlencode({REDIRECT_FIELD_NAME: page})}" if page else ""
        return redirect(f"{reverse('account_login')}{query}")


sign_in = allauth.login
authenticate = sensitive_post_parameters("code")(SecondFactorView.as_view())
sign_in_by_passkey = PasskeySignInView.as_view()


@login_not_required
@require_POST
def cancel_sign_in(request: HttpRequest) -> HttpResponse:
    """Forget the password that was given, and start again."""
    clear_login(request)
    return redirect("account_login")


def password_change(request: HttpRequest) -> HttpResponse:
    """Send a person without a password back to their account: allauth would send them to its page
    that sets one, which does not exist here, because the mailbox proves more than the session."""
    if not cast(User, request.user).has_usable_password():
        messages.info(request, NO_PASSWORD)
        return redirect("account")
    response: HttpResponse = allauth.password_change(request)
    return response


@login_not_required
def password_reset(request: HttpRequest) -> HttpResponse:
    """Without a mail server no link is created, because it would be written to the log."""
    if not settings.PASSWORD_RESET_BY_EMAIL:
        return render(request, "account/password_reset_unavailable.html")
    response: HttpResponse = allauth.password_reset(request)
    return response


class PasswordResetFromKey(allauth.PasswordResetFromKeyView):  # type: ignore[misc]
    def form_valid(self, form: Form) -> HttpResponse:
        """Mark the browser as known: the link proves access to the mailbox, so wrong passwords of
        others must not limit it."""
        response: HttpResponse = super().form_valid(form)
        remember_client(response, self.reset_user.email)
        return response
