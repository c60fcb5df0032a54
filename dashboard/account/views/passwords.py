"""The pages of allauth that Reelroom changes."""

from __future__ import annotations

from allauth.account import views as allauth
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from dashboard.account.sign_in_limits import remember_client


@login_not_required
def password_reset(request: HttpRequest) -> HttpResponse:
    """Without a mail server no link is made: it would stand in the log."""
    if not settings.PASSWORD_RESET_BY_EMAIL:
        return render(request, "account/password_reset_unavailable.html")
    response: HttpResponse = allauth.password_reset(request)
    return response


class PasswordResetFromKey(allauth.PasswordResetFromKeyView):  # type: ignore[misc]
    def form_valid(self, form: Form) -> HttpResponse:
        """The link proves the mailbox: guesses of others do not hold this browser up."""
        response: HttpResponse = super().form_valid(form)
        remember_client(response, self.reset_user.email)
        return response
