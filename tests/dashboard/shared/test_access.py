"""Rule 8: every route, for every role and for strangers. What is not theirs does not exist.

The routes come out of the resolver: one that is not in the table fails the test, so a new page
cannot be forgotten. Slow: a test asks some three hundred routes, and lists at its end each that
answered wrongly. A whole page is rendered only for who may see it.
"""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import get_resolver, reverse

from dashboard.models import Membership, Role
from dashboard.shared.safe_redirect import FORM_PAGES
from proxyapi import calls
from proxyapi.models import Job, Token
from tests.dashboard.security.people import require_two_factor
from tests.dashboard.shared import route_objects
from tests.dashboard.shared.route_objects import (
    EACH_ROUTE,
    METHODS,
    NOTHING,
    WITH_OBJECT,
    address,
    all_routes,
    ask,
    miss,
    read_once,
    send,
    sign_in,
    unrendered,
)
from tests.dashboard.shared.routes import OPEN, OPERATORS, OWN_ALONE, ROUTES
from tests.factories import UserFactory

pytestmark = pytest.mark.slow
job, team, urls = route_objects.job, route_objects.team, route_objects.urls  # the fixtures
WHOLE = (Role.OWNER, Role.PRODUCER)  # together, they see every page
# What an owner sees and sends has nearly all of the queries: PostgreSQL gets them by it.
ROLES = [
    pytest.param(role, marks=pytest.mark.postgresql) if role == Role.OWNER else role
    for role in Role
]
REQUIRED = "/two-factor-required/"
GETS = [(name, method) for name, method in METHODS if method == "get"]


def ours() -> set[str]:
    """The names of our own routes; allauth's have their tests with allauth."""
    names = {str(name) for name in get_resolver().reverse_dict if isinstance(name, str)}
    return {name for name in names if not name.startswith(("account_", "mfa_"))}


def is_allowed(role: Role, name: str, method: str) -> bool:
    return role in getattr(ROUTES[name], method) and (name not in OWN_ALONE or role == "producer")


def test_every_route_of_ours_is_in_the_table() -> None:
    assert ours() == set(ROUTES) | OPEN | OPERATORS


def test_no_two_routes_share_a_name_or_a_path() -> None:
    found = list(all_routes(get_resolver().url_patterns))
    assert [one for one, times in Counter(path for path, _ in found).items() if times > 1] == []
    names = Counter(name for _, name in found if name)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("method", ["get", "post"])
@pytest.mark.parametrize("role", ROLES)
@read_once()
def test_a_role_may_do_what_the_table_says_and_nothing_else(
    role: Role,
    method: str,
    urls: dict[str, str],
    team: dict[Role, Membership],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """pitfalls_21_29: and nobody's page asks the service; pages read the database. No page is kept
    by the browser, and none leads who has it to the set-up of the second factor."""
    asked: list[str] = []
    monkeypatch.setattr(calls, "upstream_client", lambda: asked.append("and asked the service"))
    if role == Role.PRODUCER:  # who has a second factor
        require_two_factor(team[role].team)
    browser, wrong = sign_in(team[role]), []
    for name in (name for name, one in METHODS if one == method):
        may = is_allowed(role, name, method)
        # What a form says again is shown to an owner; a page is shown to each role.
        with nullcontext() if may and (method == "get" or role in WHOLE) else unrendered():
            answer = send(browser, method, urls[name])
        # An empty form is a sentence, not a refusal: 200, 302, 400 or 422.
        answers = answer.status_code < 500 and answer.status_code not in (403, 405)
        is_right = answers if may else answer.status_code == ROUTES[name].refused
        is_kept = "no-store" not in answer.headers.get("Cache-Control", "")
        if asked or not is_right or is_kept or answer.headers.get("Location") == REQUIRED:
            wrong.append(" ".join((miss(name, method, role, answer), *asked)))
            asked.clear()
    assert not wrong, "\n".join(wrong)


@unrendered()
@read_once()
def test_head_is_answered_as_get_is(
    urls: dict[str, str], job: Job, mira: Membership, priya: Membership
) -> None:
    """And does nothing: where a POST acts, HEAD only asks."""
    owner, producer = sign_in(mira), sign_in(priya)
    wrong = []
    for name, _ in GETS:
        is_owners = is_allowed(Role.OWNER, name, "get")
        head = (owner if is_owners else producer).head(urls[name])
        if head.status_code >= 500 or head.status_code in (403, 405):
            wrong.append(miss(name, "head", "owner", head))
    assert not wrong, "\n".join(wrong)
    assert Job.objects.get(pk=job.pk).hidden_at is None


@read_once()
def test_what_another_team_has_does_not_exist(
    urls: dict[str, str], job: Job, otto: Membership
) -> None:
    """The whole page says the same of what Northlight has and of what nobody has."""
    browser, wrong = sign_in(otto), []
    size = len(send(browser, "get", address("video", job, **NOTHING)).content)
    for name, method, theirs in ask(browser, urls, WITH_OBJECT):
        is_same = theirs.status_code == 404 and abs(len(theirs.content) - size) <= 160
        if not is_same or b"Whales" in theirs.content:
            wrong.append(f"{miss(name, method, 'a stranger', theirs)} {len(theirs.content)}")
    assert not wrong, "\n".join(wrong)


@unrendered()
def test_who_has_not_signed_in_is_sent_to_sign_in(urls: dict[str, str], mira: Membership) -> None:
    browser, disabled = Client(raise_request_exception=False), sign_in(mira)
    mira.user.is_active = False
    mira.user.save()
    answers = [*ask(browser, urls, EACH_ROUTE), *ask(disabled, urls, EACH_ROUTE[:5])]
    wrong = [
        miss(name, method, "nobody", answer)
        for name, method, answer in answers
        if answer.status_code != 302 or not answer["Location"].startswith("/accounts/login/")
    ]
    assert not wrong, "\n".join(wrong)


def test_who_has_no_team_sees_that_at_every_route(urls: dict[str, str]) -> None:
    browser = Client(raise_request_exception=False)
    browser.force_login(UserFactory.create())
    assert "You are in no team" in browser.get(urls["video"]).content.decode()
    with unrendered():
        wrong = [
            miss(name, method, "in no team", answer)
            for name, method, answer in ask(browser, urls, EACH_ROUTE)
            if (answer.status_code, answer.content) != (403, b"account/no_team.html")
        ]
    assert not wrong, "\n".join(wrong)


@unrendered()
@read_once()
def test_nobody_is_led_back_to_an_address_that_only_takes_a_press(
    urls: dict[str, str], mira: Membership
) -> None:
    """What a form was refused with is shown at such an address."""
    browser = sign_in(mira)
    pressed = [name for name, route in ROUTES.items() if route.get is None and route.post]
    only = {one for one in pressed if browser.get(urls[one]).status_code == 405}
    assert only == set(FORM_PAGES)
    back = {
        name: browser.post(reverse("theme"), {"next": f"{urls[name]}?a=b"})["Location"]
        for name in sorted(only)
    }
    opened = {page: browser.get(page).status_code for page in set(back.values())}
    assert [name for name, page in back.items() if opened[page] != 200] == []


def test_the_tokens_page_never_shows_a_token(job: Job, mira: Membership) -> None:
    token = Token.objects.get(pk=job.token_id)
    assert f"sbx_{token.pk}".encode() not in sign_in(mira).get("/tokens/").content


@pytest.mark.parametrize("method", ["get", "post"])
def test_without_redis_every_route_answers_or_says_that_it_works_again_soon(
    method: str,
    urls: dict[str, str],
    mira: Membership,
    priya: Membership,
    settings: Any,
    tmp_path: Path,
) -> None:
    nobody = f"unix://{tmp_path}/nobody.sock"
    settings.REDIS_URL = nobody
    settings.CACHES = {"default": {**settings.CACHES["default"], "LOCATION": nobody}}
    owner, producer, wrong = sign_in(mira), sign_in(priya), []
    assert owner.get(urls["overview"]).status_code == 200  # whole: its shell asks Redis, too
    for name in (name for name, one in METHODS if one == method):
        who = owner if Role.OWNER in getattr(ROUTES[name], method) else producer
        with unrendered():
            answer = send(who, method, urls[name])
        says_when = answer.status_code != 503 or "Retry-After" in answer.headers
        if answer.status_code == 500 or not says_when:
            wrong.append(miss(name, method, "a member", answer))
    assert not wrong, "\n".join(wrong)
