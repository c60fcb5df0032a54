"""The authenticator app and the recovery codes: set-up, sign-in, limits, and what is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from allauth.mfa.models import Authenticator
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.models import AuditEvent, SecondFactorSecret, SignInEvent
from tests.dashboard.account.conftest import (
    MIRA,
    PASSWORD,
    is_signed_in,
    run_queued_tasks,
    sign_in,
)
from tests.dashboard.account.second_factor_steps import (
    enter_code,
    read_codes,
    read_key,
    sign_in_with_code,
    totp_code,
    turn_on_app,
)
from tests.factories import UserFactory
from tests.passkeys import store_second_factors

pytestmark = pytest.mark.usefixtures("mira_signs_in")
HOME = "203.0.113.7"


@pytest.fixture
def browser(browser_at) -> Client:
    """Mira's, signed in with her password."""
    browser = browser_at(HOME)
    sign_in(browser)
    return browser


@pytest.fixture
def commits(django_capture_on_commit_callbacks):
    """A block after which its changes are committed, as far as mails know."""
    return lambda: django_capture_on_commit_callbacks(execute=True)


def error_of(response) -> str:
    page = response.content.decode()
    assert response.status_code in (200, 422)
    return page


def outcomes() -> list[tuple[str, str]]:
    return list(SignInEvent.objects.order_by("pk").values_list("outcome", "method"))


def test_the_app_counts_only_after_its_first_code(browser) -> None:
    page = browser.get(reverse("account-app")).content.decode()
    key = read_key(page)
    assert f"secret={key}&amp;issuer=Reelroom" in page
    assert '<path class="qr__ink" d="M' in page
    assert not Authenticator.objects.exists()
    response = browser.post(reverse("account-app"), {"code": totp_code(key)})
    assert "no-store" in response["Cache-Control"]
    assert len(read_codes(response.content.decode())) == 10
    again = browser.get(reverse("account")).content.decode()
    assert "10 of 10 unused" in again
    assert not read_codes(again)


def test_the_set_up_asks_for_the_password_if_it_was_not_given_lately(mira, client_of) -> None:
    browser = client_of(mira)  # signed in without one
    page = browser.get(reverse("account-app")).content.decode()
    assert "Confirm that it is you" in page
    assert "qr__ink" not in page
    form = {"next": reverse("account-app"), "password": "wrong"}
    refused = browser.post(reverse("confirmations"), form)
    assert (refused.status_code, b"This is not your password" in refused.content) == (422, True)
    asked = browser.post(reverse("confirmations"), {**form, "password": PASSWORD})
    assert asked["Location"] == reverse("account-app")
    assert "qr__ink" in browser.get(reverse("account-app")).content.decode()


def test_a_set_up_that_takes_long_is_not_lost(browser) -> None:
    key = read_key(browser.get(reverse("account-app")).content.decode())
    with time_machine.travel(timezone.now() + timedelta(minutes=11)):
        page = browser.post(reverse("account-app"), {"code": totp_code(key)})
        assert len(read_codes(page.content.decode())) == 10
        other = browser.get(reverse("passkeys")).content.decode()
        assert "Confirm that it is you" in other, "what is new needs it"


@pytest.mark.parametrize("next_page", ["https://elsewhere.example/", "//elsewhere.example"])
def test_the_password_leads_to_no_other_site(next_page, browser) -> None:
    response = browser.post(reverse("confirmations"), {"next": next_page})
    assert response["Location"].startswith("/")
    assert "elsewhere" not in response["Location"].partition("/account/")[0]


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (-2, "This code has passed. Enter the next one."),
        (-10, "about 5 minutes slow"),
        (10, "about 5 minutes fast"),
        (2, "about 1 minute fast"),
        (30, "This code is wrong."),
    ],
)
def test_a_wrong_first_code_says_why_and_keeps_the_key(steps, sentence, browser) -> None:
    key = read_key(browser.get(reverse("account-app")).content.decode())
    response = browser.post(reverse("account-app"), {"code": totp_code(key, steps=steps)})
    page = response.content.decode()
    assert (response.status_code, sentence in page) == (422, True)
    assert read_key(page) == key
    assert not Authenticator.objects.exists()


def test_sign_in_asks_for_the_code_after_the_password(browser, browser_at) -> None:
    key, _ = turn_on_app(browser)
    other = browser_at(HOME)
    answer = other.post(
        f"{reverse('account_login')}?next=/tokens/", {"login": MIRA, "password": PASSWORD}
    )
    assert answer["Location"] == reverse("mfa_authenticate")
    assert not is_signed_in(other)
    assert "six digits" in other.get(reverse("mfa_authenticate")).content.decode()
    assert enter_code(other, totp_code(key))["Location"] == "/tokens/"
    assert is_signed_in(other)
    assert outcomes()[-1] == ("signed_in", "password and code")


def test_the_code_page_is_not_reached_without_the_password(browser_at) -> None:
    other = browser_at(HOME)
    assert other.get(reverse("mfa_authenticate"))["Location"] == reverse("account_login")
    assert enter_code(other, "123456")["Location"] == reverse("account_login")


def test_who_gave_the_password_can_start_again(browser, browser_at) -> None:
    turn_on_app(browser)
    other = browser_at(HOME)
    sign_in(other)
    assert other.post(reverse("sign-in-cancellations"))["Location"] == reverse("account_login")
    assert other.get(reverse("account_login")).status_code == 200


def test_a_code_signs_in_once(browser, browser_at) -> None:
    key, _ = turn_on_app(browser)
    code = totp_code(key, steps=1)
    assert sign_in_with_code(browser_at(HOME), code).status_code == 302
    used = sign_in_with_code(browser_at("203.0.113.8"), code)
    assert "used already" in error_of(used)


def test_wrong_codes_are_recorded_and_limited(browser, browser_at) -> None:
    key, _ = turn_on_app(browser)
    other = browser_at(HOME)
    sign_in(other)
    before = SignInEvent.objects.count()
    for _ in range(5):
        assert "This code is wrong." in error_of(enter_code(other, "000000"))
    for _ in range(3):
        assert "Too many wrong codes." in error_of(enter_code(other, totp_code(key)))
    assert not is_signed_in(other)
    assert [outcome for outcome, _ in outcomes()[before:]] == ["wrong_factor"] * 5 + [
        "factor_limited"
    ]
    tasks.audit_sign_ins()
    refusals = AuditEvent.objects.filter(action="sign_in.refuse")
    reasons = [event.details["reason"] for event in refusals.order_by("position")]
    assert reasons == ["wrong second factor", "too many wrong codes"]


def test_many_clients_share_the_limit_of_an_account(browser, browser_at) -> None:
    key, _ = turn_on_app(browser)
    for number in range(20):
        sign_in_with_code(browser_at(f"198.51.100.{number}"), "000000")
    refused = sign_in_with_code(browser_at("192.0.2.1"), totp_code(key))
    assert "Too many wrong codes." in error_of(refused)


def test_one_client_tries_ten_codes_a_minute_whatever_the_accounts(
    browser_at, mira_signs_in
) -> None:
    """Each account has five from a client."""
    password = mira_signs_in.user.password
    people, answers = UserFactory.create_batch(3, password=password), []
    for user in people:
        store_second_factors(user)
    for number in range(11):
        stranger = browser_at("198.51.100.4")
        sign_in(stranger, address=people[number % 3].email)
        answers.append(error_of(enter_code(stranger, "000000")))
    assert ["Too many wrong codes." in text for text in answers] == [False] * 10 + [True]


def test_a_recovery_code_signs_in_once_and_its_person_is_told(
    browser, browser_at, mailoutbox, commits
) -> None:
    _, codes = turn_on_app(browser)
    other = browser_at(HOME)
    with commits():
        sign_in_with_code(other, codes[3])
    assert is_signed_in(other)
    assert outcomes()[-1] == ("signed_in", "password and recovery code")
    run_queued_tasks()
    (message,) = mailoutbox
    assert (message.subject, message.to) == ("A recovery code was used", [MIRA])
    assert "Left: 9 codes." in message.body
    page = other.get(reverse("account")).content.decode()
    assert "9 of 10 unused" in page
    assert page.count("<del>••••-••••</del>") == 1
    assert "This code is wrong." in error_of(sign_in_with_code(browser_at(HOME), codes[3]))


def test_the_page_warns_when_two_recovery_codes_are_left(browser, browser_at) -> None:
    _, codes = turn_on_app(browser)
    for number, code in enumerate(codes[:8]):
        assert "run out" not in browser.get(reverse("account")).content.decode()
        sign_in_with_code(browser_at(f"198.51.100.{number}"), code)
    assert "Your recovery codes run out" in browser.get(reverse("account")).content.decode()


def test_new_recovery_codes_end_the_old_ones(browser, browser_at) -> None:
    _, old = turn_on_app(browser)
    page = browser.post(reverse("recovery-codes"))
    new = read_codes(page.content.decode())
    assert "no-store" in page["Cache-Control"]
    assert (len(new), set(old) & set(new)) == (10, set())
    sign_in_with_code(browser_at(HOME), old[0])
    other = browser_at("203.0.113.8")
    sign_in_with_code(other, new[0])
    assert is_signed_in(other)


def test_turning_the_app_off_ends_its_codes(browser, browser_at, mailoutbox, commits) -> None:
    with commits():
        turn_on_app(browser)
        assert browser.post(reverse("account-app-removals")).status_code == 302
    assert not Authenticator.objects.exists()
    assert not SecondFactorSecret.objects.exists()
    other = browser_at(HOME)
    sign_in(other)
    assert is_signed_in(other)
    run_queued_tasks()
    assert [message.subject for message in mailoutbox] == [
        "Two-factor sign-in by app was turned on",
        "Two-factor sign-in by app was turned off",
    ]
    events = AuditEvent.objects.filter(action__startswith="second_factor.").order_by("position")
    assert [(event.action, event.target) for event in events] == [
        ("second_factor.add", "authenticator app"),
        ("second_factor.remove", "authenticator app"),
    ]


def test_the_secrets_are_stored_encrypted(browser) -> None:
    key, _ = turn_on_app(browser)
    stored = str(list(Authenticator.objects.values_list("data", flat=True)))
    blobs = b"".join(bytes(row.ciphertext) for row in SecondFactorSecret.objects.all())
    assert SecondFactorSecret.objects.count() == 2
    assert key not in stored
    assert key.encode() not in blobs


def test_who_has_no_second_factor_has_nothing_to_turn_off(browser) -> None:
    for name in ("account-app-removals", "recovery-codes"):
        assert browser.post(reverse(name)).status_code == 404
