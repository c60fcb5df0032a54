"""Rule 8 for what test_access.py leaves out: every route as each role of another team, and as each
role of a team that requires a second factor which the member lacks.

Slow, as test_access.py is: a test asks some three hundred routes.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import pytest
from allauth.mfa.models import Authenticator
from django.urls import get_resolver

from dashboard.models import Membership, Role
from proxyapi.models import Job
from tests.dashboard.security.people import require_two_factor
from tests.dashboard.shared import route_objects
from tests.dashboard.shared.route_objects import (
    WITH_OBJECT,
    all_routes,
    ask,
    miss,
    read_once,
    send,
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
pytestmark = pytest.mark.slow
job, team, urls = route_objects.job, route_objects.team, route_objects.urls  # the fixtures


def take_second_factors() -> None:
    Authenticator.objects.all().delete()


def closed_routes() -> Iterator[tuple[str, str]]:
    """Name and address of each route, films, exports and streams too. Its object is nobody's: who
    lacks the second factor is stopped before the view."""
    values = {"uuid": str(uuid.uuid4()), "int": "1"}
    for path, name in all_routes(get_resolver().url_patterns):
        if name not in OPEN | OPEN_ROUTES and not name.startswith(("account_", "mfa_")):
            url = re.sub(r"<(\w+):\w+>", lambda part: values.get(part[1], "voice"), f"/{path}")
            yield name, url


@unrendered()
@pytest.mark.parametrize("role", [Role.OWNER, Role.VIEWER])
def test_a_member_without_the_second_factor_is_led_to_its_set_up_from_every_route(
    role: Role, team: dict[Role, Membership]
) -> None:
    """An owner opens pages; a viewer presses in a part of a page, which leads the whole window."""
    browser, wrong = sign_in(team[role]), []
    require_two_factor(team[role].team)
    routes = list(closed_routes())
    for name, url in routes:
        if role == Role.OWNER:
            answer = send(browser, "get", url)
            led_to = (302, answer.headers.get("Location"))
        else:
            answer = send(browser, "post", url, **{"HX-Request": "true"})
            led_to = (200, answer.headers.get("HX-Redirect"))
        is_closed_stream = name == "live" and answer.status_code == 204
        is_led = (answer.status_code, REQUIRED) == led_to
        if not (is_closed_stream or is_led) or answer.content:
            wrong.append(miss(name, "get", role, answer))
    assert not wrong, "\n".join(wrong)
    assert set(ROUTES) - OPEN_ROUTES <= {name for name, _ in routes}


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
@read_once()
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
