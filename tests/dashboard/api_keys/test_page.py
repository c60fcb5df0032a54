"""The list of API keys: who sees which, what they spent, and the state of each."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.api_keys.pages import load_keys_page
from dashboard.models import Membership, Role
from proxyapi.gateway.keys import create_key
from proxyapi.models import ApiKey, Charge, GatewayRequest, KeyScope, Token, TokenState
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]
MakeKey = Callable[..., ApiKey]
Spend = Callable[..., Charge]


def text_of(browser: Client, query: str = "") -> str:
    answer = browser.get(f"/api-keys/{query}")
    assert answer.status_code == 200
    return page_text(answer.content)


def rows_of(reader: Membership, **query: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = load_keys_page(reader, query)["list"].rows
    return rows


def test_an_empty_page_says_what_to_change(
    priya: Membership, token: Token, client_of: ClientOf
) -> None:
    text = text_of(client_of(priya))
    assert "No API key yet" in text
    assert "http://localhost:8000/api/v2" in text
    assert "Create key" in text


def test_without_a_token_no_key_can_be_created(priya: Membership, client_of: ClientOf) -> None:
    text = text_of(client_of(priya))
    assert "You have no working token." in text
    assert "Create key" not in text


@pytest.mark.parametrize("who", ["mira", "jonas", "thea"])
def test_who_manages_sees_all_keys(
    who: str, make_key: MakeKey, luca: Membership, request: pytest.FixtureRequest
) -> None:
    make_key()
    make_key("board-tool", owner=luca)
    names = [row["key"].name for row in rows_of(request.getfixturevalue(who))]
    assert names == ["board-tool", "nightly-shorts"]


def test_a_producer_sees_their_own_alone(
    make_key: MakeKey, priya: Membership, luca: Membership, client_of: ClientOf
) -> None:
    make_key()
    make_key("board-tool", owner=luca)
    text = text_of(client_of(luca))
    assert "board-tool" in text
    assert "nightly-shorts" not in text


def test_for_a_viewer_the_page_does_not_exist(vera: Membership, client_of: ClientOf) -> None:
    browser = client_of(vera)
    assert browser.get("/api-keys/").status_code == 404
    assert "/api-keys/" not in browser.get("/tokens/").content.decode()


def test_what_was_spent_and_is_held_is_shown_beside_the_limits(
    make_key: MakeKey, spend: Spend, priya: Membership, client_of: ClientOf
) -> None:
    key = make_key(monthly_limit=Decimal(1500), daily_limit=Decimal(3000))
    other = make_key("other")
    spend(key, cost=1120)
    spend(key, hold=96)
    spend(other, cost=7)
    spend(key, cost=500, refunded_at=timezone.now())
    row = next(row for row in rows_of(priya) if row["key"] == key)
    month, day = row["limits"]
    assert (month["spent"], month["held"], month["state"]) == (1120, 96, "late")
    assert (day["spent"], day["held"], day["state"]) == (1120, 96, "")
    assert row["state"]["word"] == "81 % of limit"
    assert "1120 + 96 of 1,500 this month" in text_of(client_of(priya)).replace("1,120", "1120")


@pytest.mark.parametrize(
    ("fields", "state", "word"),
    [
        ({}, "completed", "Active"),
        ({"paused_at": timedelta(hours=-1)}, "paused", "Paused"),
        ({"expires_at": timedelta(days=8)}, "completed", "Active"),
        ({"expires_at": timedelta(days=5, minutes=1)}, "late", "Expires in 5 days"),
        ({"expires_at": timedelta(hours=5)}, "late", "Expires within a day"),
        (
            {"previous_until": timedelta(hours=2), "previous_digest": "x"},
            "running",
            "Rotating",
        ),
        ({"daily_limit": Decimal(40)}, "failed", "At its limit"),
        ({"daily_limit": Decimal(0)}, "completed", "Active"),
    ],
)
def test_the_state_says_what_stops_it_or_will(
    fields: dict[str, Any],
    state: str,
    word: str,
    make_key: MakeKey,
    spend: Spend,
    priya: Membership,
) -> None:
    now = timezone.now()
    key = make_key(
        **{
            name: now + value if isinstance(value, timedelta) else value
            for name, value in fields.items()
        }
    )
    spend(key, cost=40)
    row = rows_of(priya)[0]
    assert (row["state"]["state"], row["state"]["word"]) == (state, word)


@pytest.mark.parametrize("is_bound", [True, False])
def test_a_key_whose_token_is_gone_says_so(
    is_bound: bool, make_key: MakeKey, token: Token, priya: Membership
) -> None:
    make_key(token=token if is_bound else None)
    token.state = TokenState.REVOKED
    token.save()
    assert rows_of(priya)[0]["state"]["word"] == "Token stopped"


def test_a_key_whose_owner_may_not_create_any_more_reads_only(
    make_key: MakeKey, priya: Membership, mira: Membership
) -> None:
    make_key()
    make_key("reads", scopes=[KeyScope.READ])
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)
    words = {row["key"].name: row["state"]["word"] for row in rows_of(mira)}
    assert words == {"nightly-shorts": "Reads only", "reads": "Active"}


def test_revoked_and_expired_keys_stand_apart_with_what_they_spent(
    make_key: MakeKey, spend: Spend, mira: Membership, priya: Membership, client_of: ClientOf
) -> None:
    expired = make_key("autumn", expires_at=timezone.now() - timedelta(days=1))
    spend(expired, cost=2208)
    make_key()
    text = text_of(client_of(mira))
    assert "autumn" in text.partition("Revoked and expired")[2]
    assert "Expired" in text
    assert "2,208" in text
    assert [row["key"].name for row in rows_of(priya)] == ["nightly-shorts"]


def test_requests_of_today_are_counted(make_key: MakeKey, priya: Membership) -> None:
    key, now = make_key(), timezone.now()
    for at in (now, now, now - timedelta(days=2)):
        GatewayRequest.objects.create(
            tenant=key.tenant, key=key, operation="me.get", path="/me", status=200, total_ms=1,
            received_at=at,
        )  # fmt: skip
    assert rows_of(priya)[0]["requests"] == 2


def test_search_and_chips_come_with_the_twenty_first_key(
    make_key: MakeKey, priya: Membership, client_of: ClientOf
) -> None:
    for number in range(20):
        make_key(f"script {number:02}")
    browser = client_of(priya)
    assert 'id="key-search"' not in browser.get("/api-keys/").content.decode()
    make_key("batches", paused_at=timezone.now())
    assert 'id="key-search"' in browser.get("/api-keys/").content.decode()
    assert [row["key"].name for row in rows_of(priya, q="BATCH")] == ["batches"]
    assert [row["key"].name for row in rows_of(priya, state="paused")] == ["batches"]
    assert "Nothing matches" in text_of(browser, "?q=nobody")
    part = browser.get("/api-keys/?q=script 07", headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in part
    assert ("script 07" in part, "batches" in part) == (True, False)


def test_more_than_fifty_keys_have_pages(make_key: MakeKey, priya: Membership) -> None:
    for number in range(51):
        make_key(f"script {number:02}")
    page = load_keys_page(priya, {})
    assert (len(page["list"].rows), page["list"].next_url) == (50, "/api-keys/?offset=50")
    assert [row["key"].name for row in rows_of(priya, offset="50")] == ["script 50"]


def test_a_key_of_another_team_does_not_exist(
    make_key: MakeKey, otto: Membership, client_of: ClientOf
) -> None:
    key = make_key()
    browser = client_of(otto)
    assert "nightly" not in browser.get("/api-keys/").content.decode()
    for part in ("", "pauses/", "rotations/", "revocations/"):
        assert browser.post(f"/api-keys/{key.pk}/{part}").status_code == 404


def test_the_page_takes_the_same_queries_for_one_key_and_for_many(
    make_key: MakeKey,
    spend: Spend,
    mira: Membership,
    client_of: ClientOf,
    django_assert_num_queries: Any,
) -> None:
    browser = client_of(mira)
    key = make_key(monthly_limit=Decimal(10), expires_at=timezone.now() + timedelta(days=2))
    make_key("ended", revoked_at=timezone.now())
    browser.get("/api-keys/")
    with django_assert_num_queries(QUERIES):
        browser.get("/api-keys/")
    for number in range(5):
        spend(make_key(f"script {number}", token=key.token), cost=3)
        make_key(f"ended {number}", revoked_at=timezone.now())
    with django_assert_num_queries(QUERIES):
        browser.get("/api-keys/")


QUERIES = 18


def test_keys_of_others_are_not_counted(otto: Membership, make_key: MakeKey, spend: Spend) -> None:
    spend(make_key(), cost=9)
    mine = create_key(otto.team.tenant, otto.user_id, "mine", [KeyScope.RENDER]).key
    rows = rows_of(otto)
    assert [(row["key"], row["spent"]) for row in rows] == [(mine, Decimal(0))]
