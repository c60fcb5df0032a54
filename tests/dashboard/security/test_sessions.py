"""How long sessions last is a choice of the team, and counts for open sessions at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client

from dashboard.account.sessions import SessionStore
from dashboard.models import MAX_SESSION_HOURS, AuditEvent, Membership, TeamSecurity
from dashboard.security.forms.settings import LONGER_IDLE, span_text
from dashboard.shared.session_limits import SessionLimits, load_session_limits
from tests.factories import MembershipFactory, TeamFactory

ClientOf = Callable[..., Client]
URL, DEFAULT = "/security/sessions/", SessionLimits(24, 480)
HTMX = {"HX-Request": "true", "X-Used": "1", "HX-Target": "security-sessions"}


@pytest.fixture
def clock():
    with time_machine.travel(datetime(2026, 11, 23, 9, 0, tzinfo=UTC), tick=False) as clock:
        yield clock


def set_limits(browser: Client, hours: int, idle_minutes: int, **more):
    return browser.post(URL, {"hours": hours, "idle_minutes": idle_minutes}, **more)


def is_signed_in(browser: Client) -> bool:
    return browser.get("/members/").status_code == 200


def test_a_shorter_length_ends_older_sessions_at_once(
    clock, mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    old = confirmed_client_of(priya)
    clock.shift(timedelta(hours=5))
    young, owner = confirmed_client_of(priya), confirmed_client_of(mira)
    page = set_limits(owner, 4, 60, follow=True).content.decode()
    assert "Saved. It counts for open sessions as well." in page
    assert not is_signed_in(old)
    assert is_signed_in(young)
    (entry,) = AuditEvent.objects.filter(action="team.sessions")
    assert entry.after == {"session_hours": 4, "session_idle_minutes": 60}


def test_a_session_that_nobody_used_for_longer_than_the_new_limit_ends(
    clock, mira: Membership, priya: Membership, confirmed_client_of: ClientOf
) -> None:
    idle, used = confirmed_client_of(priya), confirmed_client_of(priya)
    clock.shift(timedelta(minutes=40))
    assert is_signed_in(used)
    set_limits(confirmed_client_of(mira), 24, 30)
    assert not is_signed_in(idle)
    assert is_signed_in(used)
    clock.shift(timedelta(minutes=31))
    assert not is_signed_in(used)


def test_a_longer_length_lasts_beyond_the_installations(
    clock, mira: Membership, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(mira)
    set_limits(browser, 14 * 24, 24 * 60, follow=True)
    for _ in range(13):
        clock.shift(timedelta(hours=23))
        assert is_signed_in(browser)
    clock.shift(timedelta(hours=37))
    assert not is_signed_in(browser)


def test_the_shortest_of_a_persons_teams_counts(clock, priya: Membership) -> None:
    other = MembershipFactory(team=TeamFactory(), user=priya.user)
    assert load_session_limits([priya.user_id])[priya.user_id] == DEFAULT
    TeamSecurity.objects.create(team=priya.team, session_hours=12, session_idle_minutes=1440)
    TeamSecurity.objects.create(team=other.team, session_hours=168, session_idle_minutes=60)
    assert load_session_limits([priya.user_id])[priya.user_id] == SessionLimits(12, 60)


def test_without_a_choice_and_without_a_team_the_installation_decides(priya: Membership) -> None:
    TeamSecurity.objects.create(team=priya.team)
    user_id = priya.user_id
    assert load_session_limits([user_id]) == {user_id: DEFAULT}
    priya.delete()
    assert load_session_limits([user_id]) == {user_id: DEFAULT}


def test_joining_a_stricter_team_shortens_the_session_at_its_next_use(
    clock, priya: Membership, client_of: ClientOf
) -> None:
    browser = client_of(priya)
    strict = MembershipFactory(team=TeamFactory(), user=priya.user)
    TeamSecurity.objects.create(team=strict.team, session_hours=1, session_idle_minutes=15)
    assert is_signed_in(browser)
    clock.shift(timedelta(minutes=16))
    assert not is_signed_in(browser)


def test_a_choice_is_saved_by_htmx_and_the_page_is_shown_again(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    response = set_limits(confirmed_client_of(mira), 8, 60, headers=HTMX)
    assert response["HX-Redirect"] == "/security/"
    assert TeamSecurity.objects.get().session_hours == 8


def test_an_idle_time_beyond_the_length_is_refused(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    response = set_limits(confirmed_client_of(mira), 4, 480)
    assert response.status_code == 422
    assert LONGER_IDLE in response.content.decode()
    assert not TeamSecurity.objects.exists()


def test_a_length_that_is_not_offered_is_refused(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    assert set_limits(confirmed_client_of(mira), 100_000, 480).status_code == 422


def test_a_choice_of_before_asks_for_the_password(
    mira_has_password: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira_has_password)
    without_script = set_limits(browser, 8, 60).content.decode()
    assert re.search(r"<dialog[^>]* open\s", without_script)
    response = set_limits(browser, 8, 60, headers=HTMX)
    assert response["HX-Retarget"] == "#dialogs"
    assert 'name="hours" value="8"' in response.content.decode()
    assert not TeamSecurity.objects.exists()


def test_everybody_is_signed_out_also_who_presses(
    mira: Membership, priya: Membership, otto: Membership, confirmed_client_of: ClientOf
) -> None:
    browsers = [confirmed_client_of(mira), confirmed_client_of(priya), confirmed_client_of(priya)]
    stranger = confirmed_client_of(otto)
    asked = browsers[0].get("/security/sign-outs/").content.decode()
    assert "3 sessions of 2 people end now, yours too." in asked
    response = browsers[0].post("/security/sign-outs/")
    assert response["Location"].startswith("/accounts/login/")
    assert [is_signed_in(browser) for browser in browsers] == [False] * 3
    assert is_signed_in(stranger)
    assert AuditEvent.objects.get(action="team.sign_out").details == {"sessions": 3}


def test_the_cookie_lives_as_long_as_the_longest_choice() -> None:
    assert settings.SESSION_COOKIE_AGE == MAX_SESSION_HOURS * 3600
    assert SessionStore().get_expiry_age() == settings.SESSION_COOKIE_AGE


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(15, "15 minutes"), (60, "1 hour"), (1440, "24 hours"), (10080, "7 days"), (90, "90 minutes")],
)
def test_a_span_is_said_in_its_largest_whole_unit(minutes: int, text: str) -> None:
    assert span_text(minutes) == text


def test_no_session_is_left_in_the_database_after_a_sign_out(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    confirmed_client_of(mira).post("/security/sign-outs/")
    assert not Session.objects.exists()
