"""Views of the page of one's own account: name, e-mail address, the confirmation that it is you."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe
from kombu.exceptions import OperationalError

from dashboard.account.actions.profile import (
    LINK_ENDED,
    change_name,
    confirm_email_change,
    request_email_change,
    withdraw_email_change,
)
from dashboard.account.email_confirmations import find_confirming_user
from dashboard.account.forms.profile import ConfirmationForm, ProfileForm
from dashboard.account.queries.page import build_account_page
from dashboard.account.sign_in_limits import remember_client
from dashboard.shared.dialogs import ConfirmedDialog
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.recent_authentication import is_authentication_recent
from proxyapi.refusals import Refusal

PAGE_TEMPLATE = "account/page.html"
CONFIRMATION_TEMPLATE = "account/email_confirmation.html"
EMAIL_RATE = {"email": "5/h/user"}
TOO_MANY_ADDRESSES = "Nothing was sent: at most five addresses can be entered in an hour."
LINK_SENT = "A link was sent to {address}. Until it is opened, your address stays as it is."
BROKER_AWAY = "Redis does not answer, so no e-mail can be sent. Nothing was changed."


@require_safe
def show_account(request: TeamRequest) -> HttpResponse:
    return render_account_page(request)


@sensitive_post_parameters("password")
@require_POST
def update_profile(request: TeamRequest) -> HttpResponse:
    """Save the name; a new address has to be confirmed from there."""
    form = ProfileForm(request, request.POST)
    if form.is_valid():
        if form.cleaned_data["name"] != request.user.name:
            change_name(request.user, form.cleaned_data["name"])
            messages.success(request, "Your name was saved.")
        if not form.has_new_email or send_email_link(request, form):
            return redirect("account")
    return render_account_page(request, profile=form, status=422)


def send_email_link(request: TeamRequest, form: ProfileForm) -> bool:
    """Mail the link to the new address; False with an error in the form if it was not sent."""
    address = form.cleaned_data["email"]
    if not ratelimit.consume(request, app="account", action="email", config=EMAIL_RATE):
        form.add_error("email", TOO_MANY_ADDRESSES)
        return False
    try:
        request_email_change(request.user, address)
    except OperationalError:
        withdraw_email_change(request.user)
        form.add_error("email", BROKER_AWAY)
        return False
    messages.success(request, LINK_SENT.format(address=address))
    return True


@require_POST
def withdraw_email(request: TeamRequest) -> HttpResponse:
    withdraw_email_change(request.user)
    messages.success(request, "Your e-mail address stays as it is.")
    return redirect("account")


@cache_control(no_store=True, private=True)
@login_not_required
@allow_get_or_post
def confirm_email(request: HttpRequest, key: str) -> HttpResponse:
    """Ask before the address is replaced: mail programs open links by themselves."""
    user = find_confirming_user(key)
    if user is None or request.method != "POST":
        context = {"address": user.pending_email if user else "", "sentence": LINK_ENDED}
        return render(request, CONFIRMATION_TEMPLATE, context, status=200 if user else 404)
    try:
        confirmed_user = confirm_email_change(key)
    except Refusal as refusal:
        context = {"address": "", "sentence": refusal.sentence}
        return render(request, CONFIRMATION_TEMPLATE, context, status=404)
    response = render(request, CONFIRMATION_TEMPLATE, {"confirmed": confirmed_user.email})
    remember_client(response, confirmed_user.email)  # the link proves access to the mailbox
    return response


class AccountDialog(ConfirmedDialog):
    """About the reader's own account, so no permission is checked."""

    page_template, back = PAGE_TEMPLATE, "account"

    def fetch(self, *args: Any, **ids: Any) -> HttpResponse | None:
        return None

    def load_page(self) -> Mapping[str, Any]:
        return load_account_page(self.request)

    def show(self, form: PortalForm) -> HttpResponse:
        response = super().show(form)
        return response if self.request.htmx else allow_new_passkeys(response)


class ConfirmPerson(AccountDialog):
    """Take the confirmation that a page asked for, and go on there."""

    http_method_names = ("post",)
    template_name = "account/_confirmation.html"

    def build_form(self, data: Mapping[str, Any] | None = None) -> ConfirmationForm:
        initial = {"next": self.request.path}
        return ConfirmationForm(self.request, data, initial=initial)

    def save(self, form: ConfirmationForm) -> str:
        self.back = form.return_path
        return ""


def require_recent_authentication(request: TeamRequest) -> HttpResponse | None:
    """Return the dialog in which the reader confirms that it is them, and which then shows this
    page; None if they did so recently."""
    if is_authentication_recent(request):
        return None
    dialog = ConfirmPerson()
    dialog.setup(request)
    return dialog.show(dialog.build_form())


def load_account_page(request: TeamRequest) -> dict[str, Any]:
    return {"profile": ProfileForm(request), "page": build_account_page(request)}


def render_account_page(
    request: TeamRequest, *, status: int = 200, **context: object
) -> HttpResponse:
    """`context`: a form with errors, the set-up of an app, or new recovery codes."""
    context = {**load_account_page(request), **context}
    return allow_new_passkeys(render(request, PAGE_TEMPLATE, context, status=status))


def allow_new_passkeys(response: HttpResponse) -> HttpResponse:
    response["Permissions-Policy"] = settings.PERMISSIONS_POLICY_WITH_PASSKEYS
    return response
