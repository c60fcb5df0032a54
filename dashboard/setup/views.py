"""Views of the first run. Only its first owner sees them, until the set-up is complete."""

from __future__ import annotations

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from allauth.core.internal import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_POST

from dashboard.members.actions.invitations import invite_people
from dashboard.members.forms.invitations import InvitePeopleForm
from dashboard.members.views.invitations import consume_invitation_mails, invitations_sent_text
from dashboard.models import InstallationSetup, Membership, Role
from dashboard.setup.actions import (
    complete_setup,
    connect_sandbox,
    create_first_owner,
    request_account_check,
)
from dashboard.setup.forms import FirstOwnerForm, FirstTokenForm
from dashboard.setup.queries import SERVICE_STEP, TEAM_STEP, build_setup_page, find_open_setup
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.middleware import set_request_team
from dashboard.shared.setup_required import find_users
from dashboard.tokens.actions import add_member_token
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, DONE_TEMPLATE = "setup/page.html", "setup/done.html"
CHECK_S = 3  # seconds that a worker takes at most, usually
CHECKING_PARAM = "checking"
RATE_PER_IP = {"code": "10/m/ip"}
TOO_MANY_CODES = "Too many attempts. Wait a minute."


@sensitive_post_parameters("code", "password")
@sensitive_variables("form")
@cache_control(no_store=True, private=True)
@login_not_required
@allow_get_or_post
def set_up(request: HttpRequest) -> HttpResponse:
    """Without a user: the form of the first owner. Then the steps after it, for the owner alone."""
    if find_users():
        return show_next_step(request)
    form = FirstOwnerForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            consume_code_attempt(request)
            membership = create_first_owner(form.entered, form.cleaned_data["password"])
        except Refusal as refusal:
            if find_users():  # somebody else was first
                return show_next_step(request)
            form.add_error(refusal.field or None, refusal.sentence)
        else:
            return sign_owner_in(request, membership)
    context = {"page": build_setup_page(None), "owner_form": form}
    return render(request, PAGE_TEMPLATE, context, status=422 if form.errors else 200)


def show_next_step(request: HttpRequest) -> HttpResponse:
    """Show the steps to the owner who began them; to everybody else that nothing is left to do."""
    if request.user.is_authenticated and find_open_setup(request.user) is not None:
        set_request_team(request)
        return render_steps(request, request.GET.get("step", ""))  # type: ignore[arg-type]
    return render(request, DONE_TEMPLATE, status=410)


def consume_code_attempt(request: HttpRequest) -> None:
    """Raises `Refusal` if this client tried too many codes."""
    usage = ratelimit.consume(request, app="setup", action="code", config=RATE_PER_IP)
    if usage is None:
        raise Refusal(TOO_MANY_CODES, field="code")


def sign_owner_in(request: HttpRequest, membership: Membership) -> HttpResponse:
    record_authentication(request, membership.user, method="password", email=membership.user.email)
    perform_login(request, membership.user, email_verification="none")
    return redirect("setup")


@sensitive_post_parameters("token")
@sensitive_variables("form")
@require_POST
def connect_service(request: TeamRequest) -> HttpResponse:
    """Check the token with the service once, and store it."""
    if find_open_setup(request.user) is None:
        return render(request, DONE_TEMPLATE, status=410)
    form = FirstTokenForm(request.POST)
    if form.is_valid():
        try:
            if form.uses_sandbox:
                connect_sandbox(by=request.membership)
            else:
                add_member_token(by=request.membership, pasted=form.cleaned_data["token"])
        except Refusal as refusal:
            form.add_error("token", refusal.sentence)
        else:
            return redirect("setup")
    return render_steps(request, SERVICE_STEP, token_form=form, status=422)


@require_POST
def check_account(request: TeamRequest) -> HttpResponse:
    """Have a worker read the account again; the page reloads to show what it read."""
    if find_open_setup(request.user) is None:
        return render(request, DONE_TEMPLATE, status=410)
    request_account_check(by=request.membership)
    return redirect(f"{reverse('setup')}?step={SERVICE_STEP}&{CHECKING_PARAM}=1")


@require_POST
def invite_team(request: TeamRequest) -> HttpResponse:
    """Send the invitations, and complete the set-up if no address is left."""
    setup = find_open_setup(request.user)
    if setup is None:
        return render(request, DONE_TEMPLATE, status=410)
    form, sent_text = InvitePeopleForm(request.membership, request.POST), ""
    if settings.PASSWORD_RESET_BY_EMAIL and form.is_valid():
        addresses = form.cleaned_data["addresses"]
        try:
            consume_invitation_mails(request, addresses)
            role = Role(form.cleaned_data["role"])
            invite_people(by=request.membership, addresses=addresses, role=role, message="")
        except Refusal as refusal:
            form.add_error("addresses", refusal.sentence)
        else:
            sent_text = invitations_sent_text(addresses)
            if not form.rest:
                messages.success(request, sent_text)
                return finish(setup)
            form.keep_rest()
    return render_steps(request, TEAM_STEP, invite_form=form, sent_text=sent_text, status=422)


@require_POST
def complete(request: TeamRequest) -> HttpResponse:
    """Complete the set-up without invitations."""
    setup = find_open_setup(request.user)
    if setup is None:
        return render(request, DONE_TEMPLATE, status=410)
    return finish(setup)


def finish(setup: InstallationSetup) -> HttpResponse:
    complete_setup(setup)
    return redirect("overview")


def render_steps(
    request: TeamRequest, step: str, *, status: int = 200, **forms: object
) -> HttpResponse:
    is_checking = CHECKING_PARAM in request.GET
    context = {
        "page": build_setup_page(request.membership, step),
        "is_checking": is_checking,
        "token_form": FirstTokenForm(),
        "invite_form": InvitePeopleForm(request.membership),
        **forms,
    }
    response = render(request, PAGE_TEMPLATE, context, status=status)
    if is_checking:
        response["Refresh"] = f"{CHECK_S};url={reverse('setup')}?step={SERVICE_STEP}"
    return response
