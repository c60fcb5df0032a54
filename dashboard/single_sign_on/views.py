"""Views of the sign-in with single sign-on. A request to the provider is made while the person
waits for it.

A page sends the browser on, not a redirect: `form-action` of the content security policy also
applies to redirects that follow a form, and the provider's address is not known to the policy.
"""

from __future__ import annotations

from uuid import UUID

from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from allauth.core.internal import ratelimit
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import cache_control
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_safe

from dashboard.models import Role, SingleSignOn
from dashboard.shared.http import allow_get_or_post
from dashboard.shared.openid.authorization import (
    PendingAuthorization,
    start_authorization,
    take_authorization,
)
from dashboard.shared.openid.code_exchange import identify_person
from dashboard.shared.openid.confirmation import finish_confirmation
from dashboard.shared.openid.errors import SignInRefused, SingleSignOnFailed
from dashboard.shared.openid.session_teams import (
    SINGLE_SIGN_ON_METHOD,
    mark_single_sign_on_session,
    single_sign_on_team_id,
)
from dashboard.shared.openid.settings_test import record_settings_test
from dashboard.shared.safe_redirect import safe_return_path
from dashboard.single_sign_on.actions import admit_person, record_refused_person
from dashboard.single_sign_on.forms import SignInAddressForm
from dashboard.single_sign_on.queries import find_single_sign_on
from proxyapi.refusals import Refusal

RATE_PER_IP = {"start": "30/m/ip", "callback": "30/m/ip"}
PAGE_TEMPLATE, CONTINUE_TEMPLATE = "single_sign_on/sign_in.html", "single_sign_on/continue.html"
FAILED_TEMPLATE, TESTED_TEMPLATE = "single_sign_on/failed.html", "single_sign_on/tested.html"
USED_OR_OLD = (
    "This sign-in was used already, is older than 10 minutes, or began in another browser. Start "
    "it again."
)
REMOVED = "Single sign-on was removed meanwhile. Sign in with your password."


@cache_control(no_store=True, private=True)
@login_not_required
@allow_get_or_post
def sign_in(request: HttpRequest) -> HttpResponse:
    """Ask for the e-mail address, and send the browser to the provider of its team."""
    form = SignInAddressForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        if not consume_attempt(request, "start"):
            return render(request, "429.html", status=429)
        try:
            single_sign_on = find_single_sign_on(form.cleaned_data["address"])
            return continue_at_provider(request, single_sign_on, request.POST.get("next", ""))
        except Refusal as refusal:
            form.add_error(refusal.field or None, refusal.sentence)
    next_path = request.POST.get("next", "") or request.GET.get("next", "")
    context = {"form": form, "next": next_path}
    return render(request, PAGE_TEMPLATE, context, status=422 if form.errors else 200)


@cache_control(no_store=True, private=True)
@login_not_required
@require_safe
def sign_in_to_team(request: HttpRequest, single_sign_on_id: UUID) -> HttpResponse:
    """The sign-in address of a team: send the browser to its provider."""
    if not consume_attempt(request, "start"):
        return render(request, "429.html", status=429)
    rows = SingleSignOn.objects.select_related("team").filter(secrets__is_current=True)
    single_sign_on = get_object_or_404(rows, pk=single_sign_on_id)
    try:
        return continue_at_provider(request, single_sign_on, request.GET.get("next", ""))
    except SingleSignOnFailed as failure:
        return show_failure(request, failure.sentence)


def continue_at_provider(
    request: HttpRequest, single_sign_on: SingleSignOn, next_path: str
) -> HttpResponse:
    """Render the page that goes on to the provider. Raises `ProviderFailed`."""
    url = start_authorization(
        request,
        single_sign_on,
        purpose="sign_in",
        next_path=safe_return_path(request, next_path) if next_path else "",
    )
    context = {"url": url, "host": single_sign_on.host, "team": single_sign_on.team}
    return render(request, CONTINUE_TEMPLATE, context)


@cache_control(no_store=True, private=True)
@login_not_required
@require_safe
def callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends browsers back to: of a sign-in, of an owner's test, or of somebody
    who confirms that it is them."""
    if not consume_attempt(request, "callback"):
        return render(request, "429.html", status=429)
    pending = take_authorization(request, request.GET.get("state", ""))
    if pending is None:
        return show_failure(request, USED_OR_OLD)
    rows = SingleSignOn.objects.select_related("team__tenant")
    single_sign_on = rows.filter(pk=pending.single_sign_on_id).first()
    if single_sign_on is None:
        return show_failure(request, REMOVED)
    if pending.purpose == "test":
        return finish_test(request, single_sign_on, pending)
    if pending.purpose == "confirmation":
        return show_confirmed_page(request, single_sign_on, pending)
    try:
        return finish_sign_in(request, single_sign_on, pending)
    except SignInRefused as refusal:
        record_refused_person(single_sign_on, refusal, request)
        return show_failure(request, refusal.sentence, single_sign_on)
    except SingleSignOnFailed as failure:
        return show_failure(request, failure.sentence, single_sign_on)


def finish_sign_in(
    request: HttpRequest, single_sign_on: SingleSignOn, pending: PendingAuthorization
) -> HttpResponse:
    """Let the person in. Raises `SingleSignOnFailed`."""
    identity = identify_person(single_sign_on, pending, request.GET.dict())
    member = admit_person(single_sign_on, identity)
    logout(request)  # whoever used this browser before; the session starts anew
    mark_single_sign_on_session(request, member)
    record_authentication(
        request,
        member.user,
        method=SINGLE_SIGN_ON_METHOD,
        email=member.user.email,
        asked_at_s=identity.asked_at_s,
    )
    response: HttpResponse = perform_login(
        request, member.user, email_verification="none", redirect_url=pending.next_path or None
    )
    return response


@sensitive_variables("pending")
def show_confirmed_page(
    request: HttpRequest, single_sign_on: SingleSignOn, pending: PendingAuthorization
) -> HttpResponse:
    """Go back to the form that asked for it. Only the session that this single sign-on began can be
    confirmed with it."""
    user_id = request.user.pk or 0
    members = single_sign_on.team.memberships.select_related("user", "team__single_sign_on")
    member = members.filter(user_id=user_id).first()
    if member is None or single_sign_on_team_id(request.session, user_id) != member.team_id:
        return show_failure(request, USED_OR_OLD)
    finish_confirmation(request, member, pending)
    return redirect(pending.next_path or "/")


@sensitive_variables("pending")
def finish_test(
    request: HttpRequest, single_sign_on: SingleSignOn, pending: PendingAuthorization
) -> HttpResponse:
    """Keep the result of an owner's test; nobody is signed in. It is shown here and, by an event,
    on the page that it was started from."""
    owners = single_sign_on.team.memberships.select_related("user", "team__tenant")
    owner = owners.filter(user_id=request.user.pk or 0, role=Role.OWNER).first()
    if owner is None:
        return show_failure(request, USED_OR_OLD)
    result = record_settings_test(
        by=owner, single_sign_on=single_sign_on, pending=pending, query=request.GET.dict()
    )
    context = {"result": result, "team": single_sign_on.team}
    return render(request, TESTED_TEMPLATE, context, status=200 if result.passed else 422)


def show_failure(
    request: HttpRequest, sentence: str, single_sign_on: SingleSignOn | None = None
) -> HttpResponse:
    """Say why nobody was signed in, with a way to start again."""
    context = {"sentence": sentence, "single_sign_on": single_sign_on}
    return render(request, FAILED_TEMPLATE, context, status=422)


def consume_attempt(request: HttpRequest, action: str) -> bool:
    usage = ratelimit.consume(
        request, app="single_sign_on", action=action, config=RATE_PER_IP, limit_get=True
    )
    return usage is not None
