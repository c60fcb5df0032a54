"""Rule 8 for what test_access.py leaves out: every route as each role of another team, and as each
role of a team that requires a second factor which the member lacks.

Slow: each test asks some three hundred routes.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from django.db import transaction
from django.test import Client
from django.urls import get_resolver

from dashboard.models import Membership, Role
from proxyapi.models import Job
from tests.dashboard.security.people import give_second_factor, require_two_factor
from tests.dashboard.shared import test_access as access
from tests.dashboard.shared.routes import OPEN, ROUTES
from tests.factories import MembershipFactory, TeamFactory

pytestmark = pytest.mark.slow
Browser = Callable[[Membership], Client]
REQUIRED = "/two-factor-required/"
NOTHING = {
    **{f"{name}_id": uuid.uuid4() for name in access.OBJECTS},
    "membership_id": 999_999,
    "pack_id": 999_999,
    "rewrite_id": 999_999,
    "passkey_id": 999_999,
    "session_id": 999_999,
    "file_id": uuid.uuid4(),
    "position": 999_999,
}
# Of the routes, what a member without the second factor may use: their own account, and the way
# to another team.
OPEN_ROUTES = {
    *("two-factor-required", "team", "theme", "session", "account", "account-profile"),
    *("email-withdrawals", "confirmations", "account-app", "account-app-cancellations"),
    *("account-app-removals", "recovery-codes", "passkeys", "passkey-names", "passkey-removals"),
    "passkey-options",
    *("session-ends", "other-session-ends", "account-notifications"),
}
job, team = access.job, access.team  # the fixtures


def take_second_factors() -> None:
    Authenticator.objects.all().delete()


@pytest.mark.parametrize("role", Role)
def test_a_member_without_the_second_factor_is_led_to_its_set_up_from_every_route(
    role: Role, job: Job, team: dict[Role, Membership], client_of: Browser
) -> None:
    browser = client_of(team[role])
    require_two_factor(job.tenant.team)
    take_second_factors()
    closed = [(name, method) for name, method in access.METHODS if name not in OPEN_ROUTES]
    for name, method in closed:
        url = access.address(name, job)
        answer = getattr(browser, method)(url)
        assert (answer.status_code, answer["Location"]) == (302, REQUIRED), f"{method} {name}"
        part = getattr(browser, method)(url, headers={"HX-Request": "true"})
        assert (part.status_code, part["HX-Redirect"]) == (200, REQUIRED), f"{method} {name}"
        assert not answer.content, name
        assert not part.content, name
    assert {name for name, _ in access.METHODS} - {name for name, _ in closed} == OPEN_ROUTES


def test_no_other_route_opens_without_the_second_factor(
    priya: Membership, client_of: Browser
) -> None:
    """Films, exports and streams too, which the table has no role for."""
    browser = client_of(priya)
    require_two_factor(priya.team)
    values = {"uuid": str(uuid.uuid4()), "int": "1"}
    asked = 0
    for path, name in access.all_routes(get_resolver().url_patterns):
        if name in OPEN | OPEN_ROUTES or name.startswith(("account_", "mfa_")):
            continue
        url = re.sub(r"<(\w+):\w+>", lambda part: values.get(part[1], "voice"), f"/{path}")
        assert browser.get(url).headers.get("Location") == REQUIRED, name
        asked += 1
    assert asked > len(ROUTES) - len(OPEN_ROUTES) - 1


def test_what_stays_open_without_the_second_factor_shows_nothing_of_the_team(
    job: Job, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    require_two_factor(priya.team)
    take_second_factors()
    assert browser.get("/library/")["Location"] == REQUIRED
    open_pages = [access.address(name, job) for name in ("account", "account-app", "passkeys")]
    for url in (REQUIRED, "/accounts/password/change/", "/nowhere/", *open_pages):
        answer = browser.get(url)
        assert answer.status_code in (200, 404), url
        assert b"Whales" not in answer.content, url
        assert b"Free to spend" not in answer.content, url


def test_a_member_with_the_second_factor_is_not_led_away(
    job: Job, priya: Membership, client_of: Browser
) -> None:
    browser = client_of(priya)
    require_two_factor(job.tenant.team)
    take_second_factors()
    give_second_factor(priya)
    for name, method in access.METHODS:
        if method == "get" and name not in OPEN_ROUTES:
            answer = browser.get(access.address(name, job))
            assert answer.headers.get("Location") != REQUIRED, name


@pytest.mark.parametrize("role", [role for role in Role if role != Role.OWNER])
def test_no_role_of_another_team_learns_whether_something_exists(
    role: Role, job: Job, client_of: Browser
) -> None:
    """The answer is the same for what Northlight has and for what nobody has. Of an owner:
    test_access.py."""
    stranger = MembershipFactory(team=TeamFactory(name="Otherwhere"), role=role)
    browser = client_of(stranger)
    for name, method in access.WITH_OBJECT:
        before = transaction.savepoint()
        theirs = getattr(browser, method)(access.address(name, job))
        nothing = getattr(browser, method)(access.address(name, job, **NOTHING))
        transaction.savepoint_rollback(before)
        assert theirs.status_code == nothing.status_code, f"{method} {name}"
        assert theirs.status_code in (403, 404), f"{method} {name}"
        assert b"Whales" not in theirs.content, f"{method} {name}"
    assert {name for name, _ in access.WITH_OBJECT} <= set(ROUTES)
