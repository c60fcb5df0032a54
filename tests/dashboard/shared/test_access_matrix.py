"""Rule 8 for what test_access.py leaves out: every route as each role of another team, and as each
role of a team that requires a second factor which the member lacks.

Slow, as test_access.py is: a test asks some three hundred routes.
"""

from __future__ import annotations

import re
import uuid

import pytest
from allauth.mfa.models import Authenticator
from django.urls import get_resolver

from dashboard.models import Membership, Role
from proxyapi.models import Job
from tests.dashboard.security.people import give_second_factor, require_two_factor
from tests.dashboard.shared import route_objects
from tests.dashboard.shared.route_objects import (
    METHODS,
    WITH_OBJECT,
    all_routes,
    ask,
    miss,
    sign_in,
    unrendered,
)
from tests.dashboard.shared.routes import OPEN, ROUTES
from tests.factories import MembershipFactory, TeamFactory

REQUIRED = "/two-factor-required/"
# Of the routes, what a member without the second factor may use: their own account, and the way
# to another team.
OPEN_ROUTES = {
    *("two-factor-required", "team", "theme", "session", "account", "account-profile"),
    *("email-withdrawals", "confirmations", "account-app", "account-app-cancellations"),
    *("account-app-removals", "recovery-codes", "passkeys", "passkey-names", "passkey-removals"),
    "passkey-options",
    *("session-ends", "other-session-ends", "account-notifications"),
}
CLOSED = [(name, method) for name, method in METHODS if name not in OPEN_ROUTES]
pytestmark = pytest.mark.slow
job, team, urls = route_objects.job, route_objects.team, route_objects.urls  # the fixtures


def take_second_factors() -> None:
    Authenticator.objects.all().delete()


@unrendered()
@pytest.mark.parametrize("role", [Role.OWNER, Role.VIEWER])
def test_a_member_without_the_second_factor_is_led_to_its_set_up_from_every_route(
    role: Role, urls: dict[str, str], team: dict[Role, Membership]
) -> None:
    browser = sign_in(team[role])
    require_two_factor(team[role].team)
    take_second_factors()
    wrong = [
        miss(name, method, role, answer)
        for name, method, answer in ask(browser, urls, CLOSED)
        if (answer.status_code, answer.headers.get("Location")) != (302, REQUIRED) or answer.content
    ]
    assert not wrong, "\n".join(wrong)
    assert {name for name, _ in METHODS} - {name for name, _ in CLOSED} == OPEN_ROUTES


@unrendered()
def test_a_part_of_a_page_leads_the_whole_window_to_the_set_up(
    urls: dict[str, str], priya: Membership
) -> None:
    browser = sign_in(priya)
    require_two_factor(priya.team)
    take_second_factors()
    wrong = [
        miss(name, method, "producer", part)
        for name, method, part in ask(browser, urls, CLOSED, **{"HX-Request": "true"})
        if (part.status_code, part.headers.get("HX-Redirect")) != (200, REQUIRED) or part.content
    ]
    assert not wrong, "\n".join(wrong)


@unrendered()
def test_no_other_route_opens_without_the_second_factor(priya: Membership) -> None:
    """Films, exports and streams too, which the table has no role for."""
    browser = sign_in(priya)
    require_two_factor(priya.team)
    values = {"uuid": str(uuid.uuid4()), "int": "1"}
    asked, wrong = 0, []
    for path, name in all_routes(get_resolver().url_patterns):
        if name in OPEN | OPEN_ROUTES or name.startswith(("account_", "mfa_")):
            continue
        url = re.sub(r"<(\w+):\w+>", lambda part: values.get(part[1], "voice"), f"/{path}")
        answer = browser.get(url)
        if answer.headers.get("Location") != REQUIRED:
            wrong.append(miss(name, "get", "producer", answer))
        asked += 1
    assert not wrong, "\n".join(wrong)
    assert asked > len(ROUTES) - len(OPEN_ROUTES) - 1


def test_what_stays_open_without_the_second_factor_shows_nothing_of_the_team(
    urls: dict[str, str], priya: Membership
) -> None:
    browser = sign_in(priya)
    require_two_factor(priya.team)
    take_second_factors()
    assert browser.get("/library/")["Location"] == REQUIRED
    open_pages = [urls[name] for name in ("account", "account-app", "passkeys")]
    for url in (REQUIRED, "/accounts/password/change/", "/nowhere/", *open_pages):
        answer = browser.get(url)
        assert answer.status_code in (200, 404), url
        assert b"Whales" not in answer.content, url
        assert b"Free to spend" not in answer.content, url


@unrendered()
def test_a_member_with_the_second_factor_is_not_led_away(
    urls: dict[str, str], priya: Membership
) -> None:
    browser = sign_in(priya)
    require_two_factor(priya.team)
    take_second_factors()
    give_second_factor(priya)
    wrong = [
        miss(name, method, "producer", answer)
        for name, method, answer in ask(browser, urls, CLOSED)
        if answer.headers.get("Location") == REQUIRED
    ]
    assert not wrong, "\n".join(wrong)


@unrendered()
@pytest.mark.parametrize("role", [role for role in Role if role != Role.OWNER])
def test_no_role_of_another_team_learns_whether_something_exists(
    role: Role, urls: dict[str, str], job: Job
) -> None:
    """It answers as for what nobody has, to who may use the route in a team of their own. Of an
    owner: test_access.py."""
    stranger = MembershipFactory(team=TeamFactory(name="Otherwhere"), role=role)
    used = [one for one in WITH_OBJECT if role in getattr(ROUTES[one[0]], one[1])]
    wrong = [
        miss(name, method, f"a foreign {role}", theirs)
        for name, method, theirs in ask(sign_in(stranger), urls, used)
        if theirs.status_code != 404 or b"Whales" in theirs.content
    ]
    assert not wrong, "\n".join(wrong)
