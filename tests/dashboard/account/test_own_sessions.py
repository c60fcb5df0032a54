"""Where a person is signed in, and how they end it."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.account.queries.devices import describe_device
from dashboard.models import AuditEvent
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from tests.dashboard.account.conftest import PASSWORD, is_signed_in, sign_in

pytestmark = pytest.mark.usefixtures("mira_signs_in")
MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:133.0) Gecko/20100101 Firefox/133.0"
PHONE = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like "
    "Gecko) Version/18.1 Mobile/15E148 Safari/604.1"
)
EDGE = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0"
)


@pytest.fixture
def browsers(browser_at):
    """Mira's computer and her phone, both signed in."""
    browsers = []
    for ip, agent in (("203.0.113.24", MAC), ("198.51.100.90", PHONE)):
        browser = browser_at(ip)
        browser.defaults["HTTP_USER_AGENT"] = agent
        sign_in(browser)
        browsers.append(browser)
    return browsers


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        (MAC, "Firefox on macOS"),
        (PHONE, "Safari on iPhone"),
        (EDGE, "Edge on Windows"),
        ("curl/8.9", "curl"),
        ("", "Unknown program"),
    ],
)
def test_a_device_has_a_name(agent, name) -> None:
    assert describe_device(agent).name == name


def test_the_page_shows_each_session_this_one_first_and_without_a_button(browsers) -> None:
    computer, _ = browsers
    page = computer.get(reverse("account")).content.decode()
    first, second = page.index("Firefox on macOS"), page.index("Safari on iPhone")
    assert first < page.index("this one") < second
    assert page.index("198.51.100.90") > second
    assert page.count("/ends/") == 2, "the other session, and all others"


def test_a_person_ends_one_session_and_its_stream(browsers, mira) -> None:
    computer, phone = browsers
    row = UserSession.objects.get(ip="198.51.100.90")
    stream = StreamSession(mira.team.tenant_id, mira.team_id, mira.user_id, row.session_key)
    assert not expired_sessions({stream})
    computer.post(reverse("session-ends", args=[row.pk]))
    assert (is_signed_in(computer), is_signed_in(phone)) == (True, False)
    assert expired_sessions({stream}) == {stream}
    assert AuditEvent.objects.get(action="session.end").details["sessions"] == 1


def test_a_person_ends_all_other_sessions(browsers, browser_at) -> None:
    computer, phone = browsers
    third = browser_at("192.0.2.140")
    sign_in(third)
    answer = computer.post(reverse("other-session-ends"), follow=True)
    assert "2 other sessions were ended." in answer.content.decode()
    assert [is_signed_in(browser) for browser in (computer, phone, third)] == [True, False, False]


def test_the_current_session_and_those_of_others_are_not_ended(browsers, browser_at, jonas) -> None:
    computer, _ = browsers
    jonas.user.set_password(PASSWORD)
    jonas.user.save()
    other = browser_at("192.0.2.1")
    sign_in(other, address=jonas.user.email)
    for ip in ("203.0.113.24", "192.0.2.1"):
        row = UserSession.objects.get(ip=ip)
        assert computer.post(reverse("session-ends", args=[row.pk])).status_code == 404
    computer.post(reverse("other-session-ends"))
    assert is_signed_in(other)


def test_the_last_use_is_written_at_most_every_five_minutes(browsers) -> None:
    computer, _ = browsers
    row = UserSession.objects.get(ip="203.0.113.24")
    with time_machine.travel(timezone.now() + timedelta(minutes=4)):
        is_signed_in(computer)
    assert UserSession.objects.get(pk=row.pk).last_seen_at == row.last_seen_at
    with time_machine.travel(timezone.now() + timedelta(minutes=6)):
        is_signed_in(computer)
    assert UserSession.objects.get(pk=row.pk).last_seen_at > row.last_seen_at


def test_sessions_from_before_a_new_password_are_gone(browsers) -> None:
    computer, phone = browsers
    new = "a second lantern, brighter"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    computer.post(reverse("account_change_password"), form)
    page = computer.get(reverse("account")).content.decode()
    assert "Firefox on macOS" in page
    assert "Safari on iPhone" not in page
    assert not is_signed_in(phone)


def test_what_is_known_of_a_session_is_deleted_with_it(browsers) -> None:
    Session.objects.all().delete()
    tasks.prune_sign_ins()
    assert not UserSession.objects.exists()
