"""Create, change, pause, rotate and revoke a key: who may, what is recorded, what is shown once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from selectolax.lexbor import LexborHTMLParser

from dashboard.models import ApprovalRequest, AuditEvent, Membership
from dashboard.shared.audit_log import MONEY_AUDIT_ACTIONS
from proxyapi.gateway.keys import NewKey, find_key
from proxyapi.models import ApiKey, Charge, ChargeState, KeyScope, Token
from tests.dashboard.members.conftest import PASSWORD
from tests.pages import page_text

ClientOf = Callable[..., Client]
MakeKey = Callable[..., ApiKey]
VALUE = re.compile(r"rr_live_[0-9A-Za-z]{36}")
NEW = {
    "name": "december-series",
    "token": "",
    "scopes": ["read", "render"],
    "daily_limit": "",
    "monthly_limit": "1,000",
    "requests_per_minute": "12",
    "expires": "30",
    "networks": "203.0.113.7/24\n\n2001:db8::1\n203.0.113.0/24",
}


def fields_of(content: bytes) -> dict[str, Any]:
    """What the form of the dialog sends as it is shown."""
    form = LexborHTMLParser(content.decode()).css_first("dialog form")
    assert form is not None
    sent: dict[str, Any] = {}
    for field in form.css("input[name], textarea[name], select[name]"):
        name, given = str(field.attributes["name"]), field.attributes
        if field.tag == "select":
            chosen = field.css_first("option[selected]")
            sent[name] = chosen.attributes.get("value") or "" if chosen else ""
        elif given.get("type") in ("checkbox", "radio"):
            sent.setdefault(name, [])
            sent[name] += [given["value"]] if "checked" in given else []
        else:
            sent[name] = field.text() if field.tag == "textarea" else given.get("value") or ""
    return sent


def edited(browser: Client, key: ApiKey, **changes: Any) -> Any:
    """The answer to the form as it is shown, with these changes."""
    data = fields_of(browser.get(f"/api-keys/{key.pk}/").content)
    return browser.post(f"/api-keys/{key.pk}/", data | changes)


def last_event() -> AuditEvent:
    return AuditEvent.objects.latest("position")


def test_a_new_key_is_shown_once_and_kept_as_a_hash(
    priya: Membership, token: Token, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(priya)
    answer = browser.post("/api-keys/new/", NEW)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    value = VALUE.search(answer.content.decode())[0]  # type: ignore[index]
    key = ApiKey.objects.get()
    assert find_key(value, timezone.now()) == key
    assert (key.owner, key.token, key.monthly_limit) == (priya.user, None, 1000)
    assert (key.daily_limit, key.requests_per_minute) == (None, 12)
    assert key.scopes == ["read", "render"]
    assert key.networks == ["203.0.113.0/24", "2001:db8::1/128"]
    assert key.expires_at is not None
    assert timedelta(days=29) < key.expires_at - timezone.now() <= timedelta(days=30)
    # Nowhere else: no later page, no message, no row.
    assert value not in browser.get("/api-keys/").content.decode()
    assert value not in str(AuditEvent.objects.values_list())
    assert value not in str(ApiKey.objects.values_list())
    event = last_event()
    assert (event.action, event.after["name"]) == ("api_key.create", "december-series")
    assert event.after["monthly_limit"] == "1000"


def test_the_form_sent_again_creates_no_second_key(
    priya: Membership, token: Token, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(priya)
    browser.post("/api-keys/new/", NEW)
    answer = browser.post("/api-keys/new/", NEW)
    assert answer.status_code == 422
    assert "You have an API key with this name already." in page_text(answer.content)
    assert ApiKey.objects.count() == 1


def test_a_key_is_created_after_a_confirmation_alone(
    mira_has_password: Membership, token: Token, client_of: ClientOf
) -> None:
    token.owner = mira_has_password.user
    token.save()
    browser = client_of(mira_has_password)
    answer = browser.post("/api-keys/new/", NEW)
    assert answer.status_code == 422
    assert 'value="december-series"' in answer.content.decode()
    assert "203.0.113.7/24" in answer.content.decode()
    assert not ApiKey.objects.exists()
    answer = browser.post("/api-keys/new/", NEW | {"password": PASSWORD})
    assert VALUE.search(answer.content.decode())
    assert ApiKey.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"name": "  "}, "Enter a name."),
        ({"name": "x" * 61}, "At most 60 characters are allowed"),
        ({"scopes": []}, "Choose at least one: without a scope it can do nothing."),
        ({"scopes": ["all"]}, "Choose one from the list."),
        ({"monthly_limit": "1.5"}, "Enter a whole number of credits from 0 to 9,999,999"),
        ({"daily_limit": "-1"}, "Enter a whole number of credits from 0 to 9,999,999"),
        ({"requests_per_minute": "0"}, "Enter a whole number from 1 to 1,000."),
        ({"networks": "203.0.113.7\nlocalhost"}, "Line 2 is not an IP address or range"),
        ({"networks": "203.0.113.999"}, "Line 1 is not an IP address or range"),
        ({"networks": "\n".join(f"10.0.{n}.1" for n in range(51))}, "At most 50 lines"),
        ({"expires": "1"}, "Choose one from the list."),
        ({"token": "nobody's"}, "Choose one from the list."),
    ],
)
def test_bad_input_is_said_and_nothing_is_lost(
    change: dict[str, Any],
    sentence: str,
    priya: Membership,
    token: Token,
    confirmed_client_of: ClientOf,
) -> None:
    answer = confirmed_client_of(priya).post("/api-keys/new/", NEW | change)
    assert answer.status_code == 422
    assert sentence in page_text(answer.content)
    if "name" not in change:
        assert 'value="december-series"' in answer.content.decode()
    assert not ApiKey.objects.exists()


def test_a_colleagues_token_cannot_be_chosen(
    luca: Membership, token: Token, confirmed_client_of: ClientOf
) -> None:
    answer = confirmed_client_of(luca).post("/api-keys/new/", NEW | {"token": str(token.pk)})
    assert answer.status_code == 422
    assert not ApiKey.objects.exists()


def test_an_owner_of_a_key_changes_all_of_it(
    make_key: MakeKey, token: Token, priya: Membership, client_of: ClientOf
) -> None:
    key, browser = make_key(networks=["10.0.0.0/8"]), client_of(priya)
    answer = edited(
        browser, key, name="nightly", scopes=["read"], token=str(token.pk), daily_limit="2,000"
    )
    assert answer["Location"] == "/api-keys/"
    key.refresh_from_db()
    assert (key.name, key.scopes, key.token) == ("nightly", ["read"], token)
    assert (key.daily_limit, key.networks) == (2000, ["10.0.0.0/8"])
    limits, change = AuditEvent.objects.order_by("-position")[:2]
    assert (limits.action, limits.before, limits.after) == (
        *("api_key.limits", {"daily_limit": None}),
        {"daily_limit": "2000"},
    )
    assert (change.action, change.after["name"]) == ("api_key.change", "nightly")
    assert change.after["runs_on"] == f"token …{token.last_four}"
    edited(browser, key)
    assert AuditEvent.objects.count() == 2  # nothing changed, nothing is recorded


def test_a_change_that_another_one_overtook_is_refused_once(
    make_key: MakeKey, priya: Membership, client_of: ClientOf
) -> None:
    key, browser = make_key(daily_limit=Decimal(500)), client_of(priya)
    drawn = fields_of(browser.get(f"/api-keys/{key.pk}/").content)["drawn"]
    ApiKey.objects.update(daily_limit=50)
    answer = edited(browser, key, name="renamed", drawn=drawn)
    assert answer.status_code == 422
    assert "Somebody changed this API key meanwhile." in page_text(answer.content)
    data = fields_of(answer.content)
    assert browser.post(f"/api-keys/{key.pk}/", data).status_code == 302
    key.refresh_from_db()
    assert key.name == "renamed"


@pytest.mark.parametrize("who", ["mira", "thea"])
def test_who_manages_money_lowers_the_limits_of_others(
    who: str, make_key: MakeKey, request: pytest.FixtureRequest, client_of: ClientOf
) -> None:
    key, browser = make_key(daily_limit=Decimal(500)), client_of(request.getfixturevalue(who))
    assert edited(browser, key, daily_limit="100", monthly_limit="900").status_code == 302
    key.refresh_from_db()
    assert (key.daily_limit, key.monthly_limit) == (100, 900)
    for limit in ("101", ""):
        answer = edited(browser, key, daily_limit=limit, name="mine")
        assert answer.status_code == 422
        assert "You can lower the limits of a colleague’s API key" in page_text(answer.content)
    key.refresh_from_db()
    assert (key.daily_limit, key.name) == (100, "nightly-shorts")


def test_a_key_is_paused_in_one_press_and_resumed_by_its_undo(
    make_key: MakeKey, spend: Callable[..., Charge], thea: Membership, client_of: ClientOf
) -> None:
    key, browser = make_key(), client_of(thea)
    held, sent = spend(key, hold=40), spend(key, cost=30)
    page = browser.post(f"/api-keys/{key.pk}/pauses/", follow=True).content.decode()
    key.refresh_from_db()
    assert key.paused_at is not None
    assert "nightly-shorts is paused." in page
    assert "1 of its charges, not sent yet, was cancelled." in page
    assert f'action="/api-keys/{key.pk}/resumptions/"' in page
    held.refresh_from_db()
    sent.refresh_from_db()
    assert (held.state, sent.state) == (ChargeState.REFUSED, ChargeState.CONFIRMED)
    assert last_event().action == "api_key.pause"
    browser.post(f"/api-keys/{key.pk}/pauses/")  # a second press
    browser.post(f"/api-keys/{key.pk}/resumptions/")
    key.refresh_from_db()
    assert key.paused_at is None
    actions = list(AuditEvent.objects.order_by("position").values_list("action", flat=True))
    assert actions.count("api_key.pause") == 1
    assert actions[-1] == "api_key.resume"
    assert set(actions) <= MONEY_AUDIT_ACTIONS


@pytest.mark.parametrize(("grace", "is_kept"), [("24h", True), ("none", False)])
def test_a_rotated_key_has_a_new_value_and_for_a_while_the_old_one(
    grace: str,
    is_kept: bool,
    new_key: NewKey,
    priya: Membership,
    confirmed_client_of: ClientOf,
) -> None:
    browser, key = confirmed_client_of(priya), new_key.key
    data = {"grace": grace, "last_four": key.last_four}
    answer = browser.post(f"/api-keys/{key.pk}/rotations/", data)
    assert "no-store" in answer["Cache-Control"]
    value = VALUE.search(answer.content.decode())[0]  # type: ignore[index]
    now = timezone.now()
    assert find_key(value, now) == key
    assert (find_key(new_key.value, now) == key) is is_kept
    assert last_event().action == "api_key.rotate"
    assert value not in str(AuditEvent.objects.values_list())
    # The answer loaded again must not end the value that it showed.
    answer = browser.post(f"/api-keys/{key.pk}/rotations/", data)
    assert "This API key was rotated meanwhile." in page_text(answer.content)
    assert find_key(value, now) == key


@pytest.mark.parametrize("who", ["priya", "jonas", "mira"])
def test_a_revoked_key_ends_at_once_with_what_waits(
    who: str,
    new_key: NewKey,
    spend: Callable[..., Charge],
    priya: Membership,
    request: pytest.FixtureRequest,
    confirmed_client_of: ClientOf,
) -> None:
    key, by = new_key.key, request.getfixturevalue(who)
    held, asked = spend(key, hold=40), spend(key, hold=50)
    Charge.objects.filter(pk=asked.pk).update(state=ChargeState.DRAFT)
    approval = ApprovalRequest.objects.create(team=priya.team, charge=asked, member=priya.user)
    browser = confirmed_client_of(by)
    url = f"/api-keys/{key.pk}/revocations/"
    text = page_text(browser.get(url).content)
    assert "Revoke nightly-shorts?" in text
    assert "2 charges not sent" in text
    browser.post(url, {"reason": "found in a public repository"})
    assert find_key(new_key.value, timezone.now()) is None
    for charge in (held, asked):
        charge.refresh_from_db()
        assert charge.state == ChargeState.REFUSED
    approval.refresh_from_db()
    assert approval.decision == "withdrawn"
    event = last_event()
    assert (event.action, event.actor_name) == ("api_key.revoke", str(by.user))
    assert event.after == {"reason": "found in a public repository"}
    text = page_text(browser.get("/api-keys/").content)
    assert f"by {by.user}: “found in a public repository”" in text
    assert "was revoked" in page_text(browser.post(url, {}).content)


def test_nothing_of_a_revoked_key_can_be_changed(
    make_key: MakeKey, priya: Membership, client_of: ClientOf
) -> None:
    key, browser = make_key(revoked_at=timezone.now()), client_of(priya)
    assert edited(browser, key, name="again").status_code == 422
    page = browser.post(f"/api-keys/{key.pk}/pauses/", follow=True).content.decode()
    assert "This API key was revoked. Nothing was changed." in page


def test_the_audit_log_names_the_key(
    make_key: MakeKey, mira: Membership, client_of: ClientOf
) -> None:
    key, browser = make_key(), client_of(mira)
    browser.post(f"/api-keys/{key.pk}/pauses/")
    text = page_text(browser.get("/audit/").content)
    assert "Paused an API key" in text
    assert "“nightly-shorts”" in text


def test_a_scope_of_an_unknown_release_stays_readable(
    make_key: MakeKey, priya: Membership, client_of: ClientOf
) -> None:
    make_key(scopes=[KeyScope.READ, "events"])
    assert client_of(priya).get("/api-keys/").status_code == 200
