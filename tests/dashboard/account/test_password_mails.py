"""A forgotten or changed password: who gets a mail, what it says, where its link leads."""

from __future__ import annotations

import re
import smtplib
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
import time_machine
from django.conf import settings as site
from django.core.management import call_command
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard import tasks
from dashboard.account.sign_in_limits import KNOWN_CLIENT_COOKIE
from dashboard.models import SignInEvent
from dashboard.shared import enqueue
from tests.dashboard.account.conftest import (
    MIRA,
    PASSWORD,
    is_signed_in,
    pop_queued_tasks,
    run_queued_tasks,
    sign_in,
)

pytestmark = pytest.mark.usefixtures("mira_signs_in")
HOME, NOBODY = "203.0.113.7", "nobody@northlight.example"
NEW = "a second lantern, brighter"
PORTAL = "https://reelroom.example"
MAILS = Path(site.BASE_DIR) / "templates/account/email"


@pytest.fixture(autouse=True)
def _portal(settings) -> None:
    settings.PORTAL_URL = PORTAL


def ask(browser, address: str = MIRA, **more):
    return browser.post(reverse("account_reset_password"), {"email": address}, **more)


def link_in(message) -> str:
    (link,) = re.findall(rf"{PORTAL}/accounts/password/reset/key/\S+", message.body)
    return str(link)


def choose(browser, link: str, password: str = NEW):
    """Open the link and send the form behind it."""
    page = browser.get(link.removeprefix(PORTAL))
    form = {"password1": password, "password2": password}
    return browser.post(page["Location"], form) if page.status_code == 302 else page


def test_a_forgotten_password_is_replaced_by_a_link_that_works_once(browser_at, mailoutbox) -> None:
    browser = browser_at(HOME)
    ask(browser)
    run_queued_tasks()
    (message,) = mailoutbox
    assert (message.subject, message.to) == ("Reset your Reelroom password", [MIRA])
    assert message.extra_headers == {"Auto-Submitted": "auto-generated"}
    assert choose(browser, link_in(message))["Location"].endswith("/done/")
    assert sign_in(browser, NEW).status_code == 302
    assert "no longer valid" in choose(browser_at(HOME), link_in(message)).content.decode()


def test_the_link_works_for_as_long_as_the_mail_says(browser_at, mailoutbox) -> None:
    ask(browser_at(HOME))
    run_queued_tasks()
    assert "within 3 hours" in mailoutbox[0].body
    for minutes, works in ((179, True), (181, False)):
        with time_machine.travel(timezone.now() + timedelta(minutes=minutes)):
            page = browser_at(HOME).get(link_in(mailoutbox[0]).removeprefix(PORTAL))
        assert (page.status_code == 302) is works


@pytest.mark.parametrize("address", [NOBODY, "mıra@northlight.example"])
def test_an_address_that_nobody_has_gets_no_mail(address, browser_at, mailoutbox) -> None:
    ask(browser_at(HOME), address)
    run_queued_tasks()
    assert not mailoutbox


def test_a_disabled_person_gets_no_mail(browser_at, mira, mailoutbox) -> None:
    mira.user.is_active = False
    mira.user.save()
    ask(browser_at(HOME))
    run_queued_tasks()
    assert not mailoutbox


def test_the_page_does_the_same_for_every_address(browser_at, django_assert_num_queries) -> None:
    """The worker searches for the user, so the response time reveals nothing either."""
    pages = []
    for address in (MIRA, NOBODY):
        with django_assert_num_queries(2):
            pages.append(ask(browser_at(HOME), address))
        assert pop_queued_tasks() == [("dashboard.tasks.send_password_reset", [address])]
    assert [page["Location"] for page in pages] == [reverse("account_reset_password_done")] * 2
    assert pages[0].content == pages[1].content


def test_a_link_begins_with_the_portal_whatever_host_was_asked(
    browser_at, mailoutbox, settings
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    ask(
        browser_at(HOME),
        headers={"host": "elsewhere.example", "x-forwarded-host": "elsewhere.example"},
    )
    run_queued_tasks()
    (message,) = mailoutbox
    ((html, _),) = message.alternatives
    assert link_in(message) in html
    assert "elsewhere" not in message.message().as_string()


def test_without_a_broker_the_page_says_that_it_works_again_soon(browser_at, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(enqueue, "current_app", SimpleNamespace(send_task=refuse))
    browser = browser_at(HOME)
    browser.raise_request_exception = False
    response = ask(browser)
    assert (response.status_code, response["Retry-After"]) == (503, "3")


def test_a_mail_server_that_does_not_take_it_is_asked_again(browser_at, monkeypatch) -> None:
    tries = []

    def refuse(*_: object) -> None:
        tries.append(1)
        raise smtplib.SMTPServerDisconnected

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", refuse)
    assert tasks.send_password_reset.apply((MIRA,)).failed()
    assert len(tries) == 6


def test_a_portal_that_sends_no_mail_says_who_helps_and_makes_no_link(
    browser_at, settings, mailoutbox
) -> None:
    settings.PASSWORD_RESET_BY_EMAIL = False
    for page in (browser_at(HOME).get(reverse("account_reset_password")), ask(browser_at(HOME))):
        assert "This portal sends no e-mail." in page.content.decode()
        assert "<form" not in page.content.decode()
    tasks.send_password_reset(MIRA)  # of a web server with other settings
    assert not pop_queued_tasks()
    assert not mailoutbox


def test_one_address_is_mailed_five_links_an_hour(browser_at) -> None:
    assert [ask(browser_at(f"203.0.113.{n}")).status_code for n in range(6)] == [302] * 5 + [429]


def test_one_client_asks_for_twenty_mails_a_minute_whatever_the_addresses(browser_at) -> None:
    addresses = (f"{number}@northlight.example" for number in range(21))
    statuses = [ask(browser_at(HOME), address).status_code for address in addresses]
    assert statuses == [302] * 20 + [429]


def test_who_was_locked_out_signs_in_after_a_reset(browser_at, mailoutbox) -> None:
    for number in range(100):
        sign_in(browser_at(f"198.51.100.{number}"), "x")
    browser = browser_at(HOME)
    assert "Too many wrong passwords." in sign_in(browser).content.decode()
    ask(browser)
    run_queued_tasks()
    choose(browser, link_in(mailoutbox[0]))
    assert KNOWN_CLIENT_COOKIE in browser.cookies
    sign_in(browser, NEW)
    assert is_signed_in(browser)


@pytest.mark.parametrize("by_link", [True, False])
def test_a_changed_password_is_mailed_to_its_person(by_link, browser_at, mira, mailoutbox) -> None:
    browser = browser_at(HOME)
    mira.team.tenant.time_zone = "Europe/Oslo"
    mira.team.tenant.save()
    with time_machine.travel("2026-11-23 16:20:00+00:00", tick=False):
        if by_link:
            ask(browser)
            run_queued_tasks()
            choose(browser, link_in(mailoutbox.pop()))
        else:
            sign_in(browser)
            form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
            browser.post(reverse("account_change_password"), form)
    run_queued_tasks()
    (message,) = mailoutbox
    assert (message.subject, message.to) == ("Your Reelroom password was changed", [MIRA])
    for body in (message.body, message.alternatives[0][0]):
        assert all(word in body for word in (MIRA, HOME, "23 Nov 2026", "17:20 CET"))
        assert f"{PORTAL}{reverse('account_reset_password')}" in body
        assert NEW not in body
    assert SignInEvent.objects.filter(outcome__startswith="password_").count() == 1


def test_without_a_broker_a_password_is_changed_all_the_same(browser_at, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(enqueue, "current_app", SimpleNamespace(send_task=refuse))
    browser = browser_at(HOME)
    sign_in(browser)
    form = {"oldpassword": PASSWORD, "password1": NEW, "password2": NEW}
    assert browser.post(reverse("account_change_password"), form).status_code == 302
    assert sign_in(browser_at(HOME), NEW).status_code == 302


def test_a_mail_loads_nothing_and_a_name_is_text_in_it(mira, mailoutbox) -> None:
    mira.user.name = "<b>Mira</b> Sandvik"
    mira.user.save()
    tasks.send_password_reset(MIRA)
    tasks.send_password_changed(mira.user_id, timezone.now().isoformat(), HOME)
    for message in mailoutbox:
        ((html, kind),) = message.alternatives
        assert kind == "text/html"
        assert not re.search(r"<img|<link|<script|url\(|@import|src=", html)
        assert "&lt;b&gt;Mira" in html
        assert "Hello <b>Mira</b>," in message.body


def test_an_operator_sets_a_password_by_command(browser_at, monkeypatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda prompt: NEW)
    call_command("changepassword", MIRA)
    assert sign_in(browser_at(HOME), NEW).status_code == 302
