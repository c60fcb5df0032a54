"""Views of a person who was invited: the link, and the page on which they join.

The link's key is replaced by its hash in the session, so that the address of the page does not
contain it. The page is the same for an address with an account and for one without.
"""

from __future__ import annotations

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from allauth.core.internal import ratelimit
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import rotate_token
from django.shortcuts import redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from dashboard.members.actions.joining import (
    accept_invitation,
    can_be_accepted,
    create_invited_user,
    find_invitation_by_hash,
    find_opened_invitation,
)
from dashboard.members.forms.invitations import JoinTeamForm
from dashboard.members.queries.joining import build_ended_invitation, build_join_page
from dashboard.models import Invitation, User
from dashboard.shared.http import allow_get_or_post
from dashboard.shared.middleware import TEAM_SESSION_KEY
from proxyapi.refusals import Refusal

INVITATION_SESSION_KEY = "invitation"  # the hash of the link's key
JOIN_RATES = {"link": "30/m/ip", "join": "10/m/ip,20/h/key", "accept": "10/m/user"}
JOIN_TEMPLATE, ENDED_TEMPLATE = "members/join.html", "members/invitation_ended.html"
SIGN_IN_FIRST = (
    "Sign in to join. If you do not know your password, reset it, then open the link of the "
    "invitation again."
)


@cache_control(no_store=True, private=True)
@login_not_required
@require_safe
def open_invitation(request: HttpRequest, key: str) -> HttpResponse:
    if not consume_attempt(request, "link"):
        return show_too_many_attempts(request)
    invitation = find_opened_invitation(key)
    if invitation is None:
        return render(request, ENDED_TEMPLATE, status=404)
    request.session[INVITATION_SESSION_KEY] = invitation.key_hash
    return redirect("join")


@sensitive_post_parameters("password1", "password2")
@cache_control(no_store=True, private=True)
@login_not_required
@allow_get_or_post
def join(request: HttpRequest) -> HttpResponse:
    """Show the invitation of the session. POST joins with a new account."""
    invitation = find_session_invitation(request)
    if not can_be_accepted(invitation):
        return show_ended_invitation(request, invitation)
    form = JoinTeamForm(invitation.address, request.POST if request.method == "POST" else None)
    if request.method == "POST" and not request.user.is_authenticated:
        if not consume_attempt(request, "join", invitation.address):
            return show_too_many_attempts(request)
        if form.is_valid():
            user = create_invited_user(
                invitation=invitation,
                name=form.cleaned_data["name"],
                password=form.cleaned_data["password1"],
            )
            if user is not None:
                return sign_in_and_join(request, invitation, user)
            form.add_error(None, SIGN_IN_FIRST)
    context = {"page": build_join_page(invitation, request.user), "form": form}
    return render(request, JOIN_TEMPLATE, context, status=422 if form.errors else 200)


@login_not_required
@require_POST
def accept(request: HttpRequest) -> HttpResponse:
    """Join with the account that is signed in."""
    invitation = find_session_invitation(request)
    if not can_be_accepted(invitation):
        return show_ended_invitation(request, invitation)
    if not request.user.is_authenticated:
        return redirect("join")
    if not consume_attempt(request, "accept"):
        return show_too_many_attempts(request)
    return accept_and_open_team(request, invitation, request.user)


def sign_in_and_join(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponse:
    record_authentication(request, user, method="password", email=user.email)
    perform_login(request, user, email_verification="none")
    return accept_and_open_team(request, invitation, user)


def accept_and_open_team(request: HttpRequest, invitation: Invitation, user: User) -> HttpResponse:
    """Accept, and show the team's overview."""
    try:
        membership = accept_invitation(invitation=invitation, user=user)
    except Refusal:
        return redirect("join")  # which says why
    request.session.pop(INVITATION_SESSION_KEY, None)
    request.session[TEAM_SESSION_KEY] = str(membership.team_id)
    rotate_token(request)  # a form of the team before, open in another tab, is refused
    messages.success(request, f"You joined {membership.team}.")
    return redirect("overview")


def find_session_invitation(request: HttpRequest) -> Invitation | None:
    return find_invitation_by_hash(request.session.get(INVITATION_SESSION_KEY, ""))


def show_ended_invitation(request: HttpRequest, invitation: Invitation | None) -> HttpResponse:
    """Say how it ended; a link that was replaced by a newer one is unknown."""
    return render(
        request,
        ENDED_TEMPLATE,
        {"ended": build_ended_invitation(invitation) if invitation else None},
        status=410 if invitation else 404,
    )


def show_too_many_attempts(request: HttpRequest) -> HttpResponse:
    return render(request, "429.html", status=429)


def consume_attempt(request: HttpRequest, action: str, address: str = "") -> bool:
    """Count an attempt of the client, the account and the invited address; False if one of them has
    none left."""
    usage = ratelimit.consume(
        request, app="join_team", action=action, config=JOIN_RATES, key=address, limit_get=True
    )
    return usage is not None
