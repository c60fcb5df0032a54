"""Every route of one's own account, for every kind of person and in every kind of session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from dashboard.account.urls import urlpatterns
from dashboard.models import Membership, User
from dashboard.shared.openid.session_teams import (
    OPEN_ACCOUNT_VIEW_NAMES,
    OUTLIVES_SESSION,
    SINGLE_SIGN_ON_SESSION_KEY,
)
from tests.dashboard.security.people import give_second_factor, require_two_factor
from tests.factories import MembershipFactory
from tests.passkeys import store_passkey

ClientOf = Callable[[Membership], Client]
WORDS = {"uidb36": "1", "key": "a-b"}
FORM = {
    "name": "Eve",
    "email": "eve@elsewhere.example",
    "code": "123456",
    "credential": "{}",
    "oldpassword": "a",
    "password": "a",
    "password1": "a lantern over the ice",
    "password2": "a lantern over the ice",
}


def walk_routes(patterns: Any = urlpatterns) -> Iterator[tuple[str, str, bool]]:
    """Yield the name of each route, its address, and whether it needs a sign-in."""
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            yield from walk_routes(pattern.url_patterns)
            continue
        assert isinstance(pattern, URLPattern)
        args = {word: WORDS.get(word, 1) for word in pattern.pattern.regex.groupindex}
        url = reverse(str(pattern.name), kwargs=args)
        yield str(pattern.name), url, getattr(pattern.callback, "login_required", True)


def enter_by_provider(browser: Client, member: Membership) -> None:
    session = browser.session
    session[SINGLE_SIGN_ON_SESSION_KEY] = [str(member.team_id), str(member.user_id)]
    session.save()


def person_state(user: User) -> list[Any]:
    fields = ("name", "email", "pending_email", "password", "is_active")
    factors = Authenticator.objects.filter(user=user).values_list("type", "data")
    sessions = Session.objects.values_list("session_key", flat=True)
    return [User.objects.values(*fields).get(pk=user.pk), sorted(map(str, factors)), set(sessions)]


def test_a_session_that_a_teams_provider_began_changes_nothing_of_the_person(
    priya: Membership, otto: Membership, client_of: ClientOf
) -> None:
    """The provider's owner would lock a shared member out of their other teams."""
    MembershipFactory.create(team=otto.team, user=priya.user)
    give_second_factor(priya)
    elsewhere, browser = client_of(priya), client_of(priya)
    enter_by_provider(browser, priya)
    before = person_state(priya.user)
    for name, url, is_private in walk_routes():
        if not is_private or name in OPEN_ACCOUNT_VIEW_NAMES or not url.startswith("/account"):
            continue
        for answer in (browser.get(url), browser.post(url, FORM)):
            assert (answer.status_code, answer.headers.get("Location")) == (302, "/account/"), url
        htmx = browser.get(url, headers={"HX-Request": "true"})
        assert htmx.headers["HX-Redirect"] == "/account/"
    assert person_state(priya.user) == before
    page = browser.get(reverse("account")).content.decode()
    assert OUTLIVES_SESSION in page
    assert reverse("account_change_password") not in page
    assert elsewhere.get(reverse("account")).status_code == 200


def test_the_provider_answers_for_the_second_factor_that_a_team_requires(
    mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    require_two_factor(priya.team)
    browser = client_of(priya)
    assert browser.get(reverse("library")).headers["Location"] == "/two-factor-required/"
    enter_by_provider(browser, priya)
    assert browser.get(reverse("library")).status_code == 200


def has_password(_: Membership, browser: Client) -> None:
    pass


def signs_in_at_provider(member: Membership, browser: Client) -> None:
    enter_by_provider(browser, member)


def has_passkey_alone(member: Membership, browser: Client) -> None:
    store_passkey(member.user)


def has_no_team(member: Membership, browser: Client) -> None:
    member.delete()


def has_two_teams(member: Membership, browser: Client) -> None:
    MembershipFactory.create(user=member.user)


@pytest.mark.parametrize(
    "prepare", [has_password, signs_in_at_provider, has_passkey_alone, has_no_team, has_two_teams]
)
def test_every_route_of_the_account_answers_every_kind_of_person(
    prepare: Callable[[Membership, Client], None], priya: Membership
) -> None:
    """Without a 5xx and without an exception, which the client raises."""
    if prepare is not has_password:
        priya.user.set_unusable_password()
    priya.user.save()
    browser = Client()
    browser.force_login(priya.user)
    prepare(priya, browser)
    cookies = deepcopy(browser.cookies)
    for method in ("get", "post"):
        for _, url, _ in walk_routes():
            with transaction.atomic():
                status = getattr(browser, method)(url, FORM).status_code
                transaction.set_rollback(True)
            browser.cookies = deepcopy(cookies)
            assert status < 500, (method, url)
