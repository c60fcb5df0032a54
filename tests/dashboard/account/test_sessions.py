"""A session ends when nobody uses it, and a day after sign-in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.celery import app
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from tests.dashboard.account.conftest import is_signed_in, sign_in

pytestmark = pytest.mark.usefixtures("mira_signs_in")
IDLE = timedelta(minutes=480)
PART = {"HX-Request": "true"}
BY_HAND = {**PART, "X-Used": "1"}


@pytest.fixture
def clock():
    with time_machine.travel(datetime(2026, 11, 23, 9, 0, tzinfo=UTC), tick=False) as one:
        yield one


@pytest.fixture
def browser(clock, browser_at):
    """Mira's, signed in at nine."""
    browser = browser_at("203.0.113.7")
    sign_in(browser)
    return browser


def end() -> datetime:
    return Session.objects.get().expire_date


def test_a_session_ends_when_nobody_used_it(browser, clock) -> None:
    clock.shift(IDLE - timedelta(seconds=1))
    assert is_signed_in(browser)
    clock.shift(IDLE + timedelta(seconds=1))
    assert not is_signed_in(browser)


def test_a_session_ends_a_day_after_sign_in_however_much_it_is_used(browser, clock) -> None:
    for _ in range(23):
        clock.shift(timedelta(hours=1))
        assert is_signed_in(browser)
    clock.shift(timedelta(hours=1))
    assert not is_signed_in(browser)


def test_saving_something_in_it_does_not_make_a_session_longer(browser, clock, mira) -> None:
    for _ in range(4):
        clock.shift(timedelta(hours=6, seconds=-1))
        browser.post(reverse("team"), {"team": str(mira.team_id)})
    assert is_signed_in(browser)
    clock.shift(timedelta(seconds=4))
    assert not is_signed_in(browser)


def test_a_use_is_written_once_in_five_minutes(browser, clock, django_assert_num_queries) -> None:
    is_signed_in(browser)
    before = end()
    clock.shift(timedelta(minutes=4, seconds=59))
    is_signed_in(browser)
    assert end() == before
    clock.shift(timedelta(seconds=1))
    is_signed_in(browser)
    assert end() == timezone.now() + IDLE


@pytest.mark.parametrize(
    ("headers", "is_used"),
    [({}, True), (PART, False), (BY_HAND, True)],
    ids=["page", "part", "hand"],
)
def test_what_a_page_asks_by_itself_is_no_use(headers, is_used, browser, clock) -> None:
    before = end()
    clock.shift(timedelta(hours=1))
    browser.get(reverse("service"), headers=headers)
    assert (end() > before) is is_used


def test_a_stream_that_comes_back_is_no_use_and_ends_with_the_session(browser, clock, mira) -> None:
    before, row = end(), Session.objects.get()
    clock.shift(timedelta(hours=1))
    browser.get(reverse("live"), {"team": "another"})
    assert end() == before
    ticket = StreamSession(mira.team.tenant_id, mira.team_id, mira.user_id, row.session_key)
    assert not expired_sessions({ticket})
    clock.shift(IDLE)
    assert expired_sessions({ticket}) == {ticket}


def test_a_shorter_limit_is_a_setting(clock, browser_at, settings) -> None:
    settings.SESSION_IDLE_MINUTES = 30
    browser = browser_at("203.0.113.7")
    sign_in(browser)
    clock.shift(timedelta(minutes=31))
    assert not is_signed_in(browser)


def test_sessions_that_ended_are_deleted_once_a_day(browser, clock) -> None:
    clock.shift(timedelta(hours=25))
    tasks.prune_sign_ins()
    assert not Session.objects.exists()
    rows = app.conf.beat_schedule.values()
    assert {"dashboard.tasks.prune_sign_ins": 86_400.0}.items() <= {
        row["task"]: row["schedule"] for row in rows
    }.items()
