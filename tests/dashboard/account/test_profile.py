"""Name and e-mail address: a new address counts once it is confirmed from there."""

from __future__ import annotations

import re
from datetime import timedelta
from types import SimpleNamespace

import pytest
import time_machine
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.models import AuditEvent
from dashboard.shared import enqueue
from tests.dashboard.account.conftest import MIRA, PASSWORD, run_queued_tasks, sign_in

pytestmark = pytest.mark.usefixtures("mira_signs_in")
HOME, NEW = "203.0.113.7", "mira@sandvik.example"
PORTAL = "https://reelroom.example"


@pytest.fixture(autouse=True)
def _portal(settings) -> None:
    settings.PORTAL_URL = PORTAL


@pytest.fixture
def browser(browser_at) -> Client:
    browser = browser_at(HOME)
    sign_in(browser)
    return browser


@pytest.fixture
def enter(browser, django_capture_on_commit_callbacks, mailoutbox):
    """Enter an address; return the answer and the mails by their recipient."""

    def enter_address(address: str = NEW, client: Client = browser, **more: str):
        with django_capture_on_commit_callbacks(execute=True):
            form = {"name": "Mira Sandvik", "email": address, **more}
            response = client.post(reverse("account-profile"), form)
        mailoutbox.clear()
        run_queued_tasks()
        return response, {message.to[0]: message for message in mailoutbox}

    return enter_address


def path_in(message) -> str:
    (link,) = re.findall(rf"{PORTAL}(/account/email/confirmations/\S+)", message.body)
    return str(link)


def address_of(member) -> str:
    member.user.refresh_from_db()
    return str(member.user.email)


def test_a_name_is_saved(browser, mira) -> None:
    form = {"name": "Mira S. Sandvik", "email": MIRA}
    assert browser.post(reverse("account-profile"), form)["Location"] == reverse("account")
    mira.user.refresh_from_db()
    assert mira.user.name == "Mira S. Sandvik"


@pytest.mark.parametrize("name", ["", "  ", "x" * 101, "Mira\u202evodniS"])
def test_a_name_that_nobody_can_read_is_refused(name, browser, mira) -> None:
    form = {"name": name, "email": MIRA}
    assert browser.post(reverse("account-profile"), form).status_code == 422
    mira.user.refresh_from_db()
    assert mira.user.name == "Mira Sandvik"


def test_a_new_address_counts_once_it_is_confirmed(
    enter, browser, browser_at, mira, mailoutbox, django_capture_on_commit_callbacks
) -> None:
    _, mails = enter(NEW.upper())
    assert set(mails) == {MIRA, NEW}
    assert MIRA not in mails[NEW].message().as_string()
    assert NEW in mails[MIRA].body
    assert address_of(mira) == MIRA
    assert f"confirmation from {NEW}" in browser.get(reverse("account")).content.decode()
    mailbox, path = browser_at("198.51.100.1"), path_in(mails[NEW])
    assert "Confirm the address" in mailbox.get(path).content.decode()
    assert address_of(mira) == MIRA, "a mail program opened the link"
    mailoutbox.clear()
    with django_capture_on_commit_callbacks(execute=True):
        assert f"with {NEW}" in mailbox.post(path).content.decode()
    assert address_of(mira) == NEW
    run_queued_tasks()
    (message,) = mailoutbox
    assert (message.to, message.subject) == ([MIRA], "Your Reelroom e-mail address was changed")
    event = AuditEvent.objects.get(action="email.change")
    assert (event.before, event.after) == ({"email": MIRA}, {"email": NEW})
    assert sign_in(browser_at(HOME), address=NEW).status_code == 302


def test_a_link_works_once_and_for_a_day(enter, browser, mira) -> None:
    path = path_in(enter()[1][NEW])
    with time_machine.travel(timezone.now() + timedelta(hours=24, minutes=1)):
        assert browser.post(path).status_code == 404
    assert browser.post(path).status_code == 200
    assert browser.post(path).status_code == 404
    assert "no longer valid" in browser.get(path).content.decode()


def test_a_newer_address_and_taking_it_back_end_the_link(enter, browser, mira) -> None:
    first = path_in(enter("first@sandvik.example")[1]["first@sandvik.example"])
    second = path_in(enter("second@sandvik.example")[1]["second@sandvik.example"])
    assert browser.post(first).status_code == 404
    assert "Cancel change" in browser.get(reverse("account")).content.decode()
    browser.post(reverse("email-withdrawals"))
    assert browser.post(second).status_code == 404
    assert address_of(mira) == MIRA


def test_a_forged_link_is_no_link(browser) -> None:
    for key in ("x", "WzEsICJ4Il0:1a:x", "%00"):
        assert browser.post(f"/account/email/confirmations/{key}/").status_code == 404


def test_the_address_of_somebody_else_gets_the_same_answer_and_no_link(
    enter, browser, jonas, mira
) -> None:
    free, _ = enter(NEW)
    page = browser.get(reverse("account")).content.decode()
    taken, mails = enter(jonas.user.email.upper())
    same = browser.get(reverse("account")).content.decode()
    assert (free.status_code, free["Location"]) == (taken.status_code, taken["Location"])
    assert page.count("<form") == same.count("<form")
    assert set(mails) == {MIRA}


def test_an_address_that_somebody_got_meanwhile_is_not_taken_from_them(
    enter, browser, jonas, mira
) -> None:
    path = path_in(enter()[1][NEW])
    jonas.user.email = NEW
    jonas.user.save()
    assert browser.post(path).status_code == 404
    assert (address_of(mira), address_of(jonas)) == (MIRA, NEW)


def test_a_new_address_needs_a_recent_password_and_keeps_what_was_typed(
    enter, mira, client_of
) -> None:
    browser = client_of(mira)  # signed in without one
    response, mails = enter(NEW, browser)
    page = response.content.decode()
    assert (response.status_code, mails) == (422, {})
    assert "Enter your password to change the e-mail address." in page
    assert f'value="{NEW}"' in page
    assert enter(NEW, browser, password="wrong")[0].status_code == 422
    assert enter(NEW, browser, password=PASSWORD)[0].status_code == 302


def test_five_addresses_an_hour_are_enough(enter) -> None:
    answers = [enter(f"mira{number}@sandvik.example")[0].status_code for number in range(6)]
    assert answers == [302] * 5 + [422]


def test_a_portal_without_mail_changes_no_address(enter, settings) -> None:
    settings.PASSWORD_RESET_BY_EMAIL = False
    response, _ = enter()
    assert "This portal sends no e-mail" in response.content.decode()


@pytest.mark.django_db(transaction=True)
def test_without_a_broker_no_address_is_entered(browser, mira, monkeypatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OperationalError

    monkeypatch.setattr(enqueue, "current_app", SimpleNamespace(send_task=refuse))
    response = browser.post(reverse("account-profile"), {"name": "Mira", "email": NEW})
    assert "Redis does not answer" in response.content.decode()
    assert (address_of(mira), mira.user.pending_email) == (MIRA, "")
