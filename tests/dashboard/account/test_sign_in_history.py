"""Who signed in or was refused, when and from where."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from dashboard import tasks
from dashboard.models import SignInEvent
from tests.dashboard.account.conftest import MIRA, PASSWORD, sign_in

pytestmark = [pytest.mark.usefixtures("mira_signs_in"), pytest.mark.postgresql]
HOME = "203.0.113.7"


def outcomes() -> list[str]:
    return list(SignInEvent.objects.order_by("pk").values_list("outcome", flat=True))


def test_a_sign_in_is_recorded_with_its_client(browser_at, mira) -> None:
    browser = browser_at(HOME)
    browser.defaults["HTTP_USER_AGENT"] = "Fire\x1b\0fox " + "x" * 500
    sign_in(browser)
    event = SignInEvent.objects.get()
    assert (event.user, event.address, event.outcome) == (mira.user, MIRA, "signed_in")
    assert (event.client_ip, len(event.user_agent)) == (HOME, 200)
    assert event.user_agent.startswith("Firefox ")
    assert timezone.now() - event.happened_at < timedelta(seconds=10)


def test_behind_a_proxy_the_client_is_the_one_that_the_proxy_names(browser_at, settings) -> None:
    settings.ALLAUTH_TRUSTED_PROXY_COUNT = 1
    browser = browser_at("10.0.0.1")
    browser.defaults["HTTP_X_FORWARDED_FOR"] = f"192.0.2.66, {HOME}"
    sign_in(browser)
    assert SignInEvent.objects.get().client_ip == HOME


def test_a_refusal_is_recorded_for_known_and_unknown_addresses_alike(browser_at, mira) -> None:
    pages = [
        sign_in(browser_at(HOME), "not the lantern", address).content.decode()
        for address in (MIRA.upper(), "nobody@northlight.example")
    ]
    known, unknown = SignInEvent.objects.order_by("pk")
    assert (known.user, known.address, known.outcome) == (mira.user, MIRA, "wrong")
    assert (unknown.user, unknown.address) == (None, "nobody@northlight.example")
    assert "The e-mail address or the password is wrong." in pages[0]
    assert "The e-mail address or the password is wrong." in pages[1]


def test_known_and_unknown_addresses_ask_the_database_as_often(
    browser_at, django_assert_num_queries
) -> None:
    for address in (MIRA, "nobody@northlight.example"):
        with django_assert_num_queries(4):
            sign_in(browser_at(HOME), "not the lantern", address)


def test_who_is_locked_and_goes_on_trying_is_one_row(browser_at) -> None:
    browser = browser_at(HOME)
    for _ in range(20):
        sign_in(browser, "not the lantern")
    assert outcomes() == ["wrong"] * 5 + ["limited"]


def test_the_right_password_of_a_disabled_account_is_recorded(browser_at, mira) -> None:
    mira.user.is_active = False
    mira.user.save()
    assert sign_in(browser_at(HOME))["Location"] == reverse("account_inactive")
    assert outcomes() == ["disabled"]


def test_a_changed_password_is_recorded(browser_at) -> None:
    browser = browser_at(HOME)
    sign_in(browser)
    new = "a second lantern, brighter"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    browser.post(reverse("account_change_password"), form)
    assert outcomes() == ["signed_in", "password_changed"]


def test_an_operator_reads_the_record_by_command(browser_at) -> None:
    sign_in(browser_at(HOME))
    sign_in(browser_at(HOME), "x", "nobody@northlight.example")
    whole, hers = StringIO(), StringIO()
    call_command("list_sign_ins", stdout=whole)
    call_command("list_sign_ins", MIRA.upper(), stdout=hers)
    first, second = whole.getvalue().splitlines()
    assert f"{HOME}  {MIRA}  signed in" in first
    assert f"{HOME}  nobody@northlight.example  wrong address or password" in second
    assert hers.getvalue().splitlines() == [first]


def test_no_password_is_stored(browser_at) -> None:
    for password in (PASSWORD, "canary lantern"):
        sign_in(browser_at(HOME), password)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {SignInEvent._meta.db_table}")  # noqa: S608
        rows = str(cursor.fetchall())
    assert "lantern" not in rows


def test_rows_are_deleted_after_a_while(browser_at, settings, monkeypatch) -> None:
    monkeypatch.setattr("proxyapi.pruning.DELETED_AT_ONCE", 2)
    for _ in range(5):
        sign_in(browser_at(HOME), "not the lantern")
    ago = timezone.now() - timedelta(days=settings.SIGN_IN_RETENTION_DAYS, minutes=1)
    newest = SignInEvent.objects.latest("pk")
    SignInEvent.objects.exclude(pk=newest.pk).update(happened_at=ago)
    tasks.prune_sign_ins()
    assert SignInEvent.objects.get() == newest
