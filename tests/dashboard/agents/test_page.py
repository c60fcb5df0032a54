"""The page of agents: what each state says, who sees which, pause, raise and end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from allauth.idp.oidc.models import Client as OAuthClient
from allauth.idp.oidc.models import Token as OAuthToken
from django.test import Client
from django.utils import timezone

from dashboard.agents.endpoints import prune_agent_tokens
from dashboard.agents.pages import load_agents_page
from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.api_keys.pages import load_keys_page
from dashboard.api_requests.pages import load_key_options
from dashboard.models import AuditEvent, Membership
from dashboard.shared.videos.labels import maker_text
from proxyapi.models import ApiKey, Charge, ChargeState, JobOrigin, KeyScope
from tests.dashboard.api_requests.requests import log_request
from tests.pages import page_text

ClientOf = Callable[..., Client]
Spend = Callable[..., Charge]
MakeAgent = Callable[..., ApiKey]


@pytest.fixture
def make_agent(make_key: Callable[..., ApiKey]) -> MakeAgent:
    """With a refresh token of its program, unless it is not `connected`."""

    def make(name: str = "Film helper", *, connected: bool = True, **fields: Any) -> ApiKey:
        client = "https://helper.example/client.json"
        week = timezone.now() + timedelta(days=7)
        fields = {"allowance": Decimal(50), "expires_at": week, "client_id": client} | fields
        agent = make_key(name, **fields)
        agent.prefix = agent.last_four = ""  # its value is nobody's
        agent.save()
        if connected:
            OAuthToken.objects.create(
                type=OAuthToken.Type.REFRESH_TOKEN,
                hash=str(agent.pk),
                client=OAuthClient.objects.get_or_create(pk=client)[0],
                data={"agent": str(agent.pk)},
                expires_at=timezone.now() + timedelta(days=90),
            )
        return agent

    return make


def rows_of(reader: Membership) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = load_agents_page(reader)["rows"]
    return rows


@pytest.mark.parametrize(
    ("fields", "spent", "state", "word"),
    [
        ({}, 0, "completed", "Active"),
        ({"connected": False}, 0, "failed", "Not connected"),
        ({"paused_at": timedelta(hours=-1)}, 0, "paused", "Paused"),
        ({}, 50, "paused", "Allowance used up"),
        ({"allowance": Decimal(0)}, 0, "paused", "Allowance used up"),
        ({}, 39, "completed", "Active"),
        ({}, 40, "late", "80 % of allowance"),
        ({"scopes": [KeyScope.READ], "allowance": Decimal(0)}, 0, "completed", "Active"),
        ({"expires_at": timedelta(hours=5)}, 0, "late", "Expires within a day"),
    ],
)
def test_the_state_says_what_stops_it_or_will(
    fields: dict[str, Any],
    spent: int,
    state: str,
    word: str,
    make_agent: MakeAgent,
    spend: Spend,
    priya: Membership,
) -> None:
    now = timezone.now()
    times = {k: now + v if isinstance(v, timedelta) else v for k, v in fields.items()}
    agent = make_agent(**times)
    if spent:
        spend(agent, cost=spent)
    (row,) = rows_of(priya)
    assert (row["state"]["state"], row["state"]["word"]) == (state, word)


@pytest.mark.parametrize(
    ("field", "word"), [("revoked_at", "Ended"), ("expires_at", "Expired")], ids=str
)
def test_what_no_longer_works_is_below(
    field: str, word: str, make_agent: MakeAgent, priya: Membership, client_of: ClientOf
) -> None:
    make_agent(**{field: timezone.now()})
    page = load_agents_page(priya)
    assert page["rows"] == []
    assert [row["state"]["word"] for row in page["ended"]] == [word]
    assert word in page_text(client_of(priya).get("/agents/").content)


def test_an_agent_shows_what_it_spent_and_has_left(
    make_agent: MakeAgent, spend: Spend, priya: Membership, client_of: ClientOf
) -> None:
    agent = make_agent(charge_limit=Decimal(25))
    spend(agent, cost=12)
    spend(agent, hold=8)
    spend(agent, cost=9, refunded_at=timezone.now())
    text = page_text(client_of(priya).get("/agents/").content)
    assert "12 + 8 of 50 in all" in text
    assert "30 cr left" in text
    assert "at most 25 cr for one film" in text
    assert "helper.example" in text
    assert "http://localhost:8000/mcp" in text


def test_agents_are_not_among_the_keys_nor_keys_among_the_agents(
    make_agent: MakeAgent, make_key: Callable[..., ApiKey], priya: Membership, client_of: ClientOf
) -> None:
    agent, key = make_agent(), make_key("nightly-shorts")
    ended = make_agent("Old", revoked_at=timezone.now())
    page = load_keys_page(priya, {})
    assert [row["key"] for row in page["list"].rows] == [key]
    assert page["ended"] == []
    assert [row["key"] for row in rows_of(priya)] == [agent]
    assert [row["key"] for row in load_agents_page(priya)["ended"]] == [ended]
    browser = client_of(priya)
    assert browser.get(f"/api-keys/{agent.pk}/").status_code == 404
    assert browser.get(f"/agents/{key.pk}/ends/").status_code == 404


def test_a_member_sees_their_own_and_who_manages_all(
    make_agent: MakeAgent, priya: Membership, luca: Membership, mira: Membership, thea: Membership
) -> None:
    make_agent()
    make_agent("Clip helper", owner=luca)
    assert [row["key"].name for row in rows_of(luca)] == ["Clip helper"]
    for reader in (mira, thea):
        assert [row["key"].name for row in rows_of(reader)] == ["Clip helper", "Film helper"]


def test_the_page_takes_five_queries_for_any_number_of_agents(
    make_agent: MakeAgent, priya: Membership, django_assert_max_num_queries: Any
) -> None:
    for number in range(5):
        make_agent(f"Helper {number}")
    with django_assert_max_num_queries(5):
        load_agents_page(priya)


def test_the_allowance_is_raised_once_by_two_presses(
    make_agent: MakeAgent, priya: Membership, client_of: ClientOf
) -> None:
    agent, browser = make_agent(), client_of(priya)
    url = f"/agents/{agent.pk}/credits/"
    assert "With 50 cr more it may go on at once." in page_text(browser.get(url).content)
    form = {"amount": "50", "drawn": "50"}
    assert browser.post(url, form).status_code == 302
    answer = browser.post(url, form)
    assert answer.status_code == 422
    assert "it is 100 cr now. Nothing was added." in page_text(answer.content)
    agent.refresh_from_db()
    assert agent.allowance == 100
    entry = AuditEvent.objects.get(action="agent.credits")
    assert (entry.before, entry.after) == ({"allowance": "50"}, {"allowance": "100"})


@pytest.mark.parametrize("amount", ["", "0", "-5", "1e3", "many"])
def test_an_amount_that_is_none_adds_nothing(
    amount: str, make_agent: MakeAgent, priya: Membership, client_of: ClientOf
) -> None:
    agent = make_agent()
    form = {"amount": amount, "drawn": "50"}
    assert client_of(priya).post(f"/agents/{agent.pk}/credits/", form).status_code == 422
    agent.refresh_from_db()
    assert agent.allowance == 50


@pytest.mark.parametrize("who", ["mira", "thea", "luca"])
def test_nobody_else_raises_an_allowance(
    who: str, make_agent: MakeAgent, client_of: ClientOf, request: pytest.FixtureRequest
) -> None:
    agent = make_agent()
    browser = client_of(request.getfixturevalue(who))
    url = f"/agents/{agent.pk}/credits/"
    assert browser.post(url, {"amount": "50", "drawn": "50"}).status_code == 404


def test_pause_cancels_what_was_not_sent_and_resume_lets_it_go_on(
    make_agent: MakeAgent, spend: Spend, thea: Membership, client_of: ClientOf
) -> None:
    agent = make_agent()
    held = spend(agent, hold=8)
    browser = client_of(thea)
    browser.post(f"/api-keys/{agent.pk}/pauses/")
    agent.refresh_from_db()
    held.refresh_from_db()
    assert agent.paused_at is not None
    assert held.state == ChargeState.REFUSED
    browser.post(f"/api-keys/{agent.pk}/resumptions/")
    agent.refresh_from_db()
    assert agent.paused_at is None
    actions = AuditEvent.objects.order_by("position").values_list("action", flat=True)
    assert list(actions) == ["agent.pause", "agent.resume"]


def test_an_admin_ends_the_agent_of_a_colleague_with_its_tokens(
    connect: Callable[..., dict[str, Any]], jonas: Membership, client_of: ClientOf
) -> None:
    tokens = connect()
    agent = ApiKey.objects.get()
    browser = client_of(jonas)
    page = page_text(browser.get(f"/agents/{agent.pk}/ends/").content)
    assert "Its tokens are refused at once, for good." in page
    assert browser.post(f"/agents/{agent.pk}/ends/").status_code == 302
    assert find_agent_by_token(tokens["access_token"]) is None
    assert AuditEvent.objects.get(action="agent.end").target == str(agent.pk)
    assert browser.post(f"/agents/{agent.pk}/ends/").status_code == 422


def test_expired_tokens_are_deleted_and_used_ones_are_kept_for_a_while(
    connect: Callable[..., dict[str, Any]], program: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = connect()
    program.refresh(first["refresh_token"])
    assert OAuthToken.objects.count() == 4
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=1))
    prune_agent_tokens()
    assert OAuthToken.objects.count() == 2
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(days=200))
    prune_agent_tokens()
    assert not OAuthToken.objects.exists()


def test_what_an_agent_made_and_requested_names_the_agent(
    make_agent: MakeAgent, spend: Spend, priya: Membership, mira: Membership, client_of: ClientOf
) -> None:
    agent = make_agent()
    job = spend(agent, cost=5).job
    assert job is not None
    job.api_key, job.origin = agent, JobOrigin.GATEWAY
    job.save()
    row = log_request(agent, path="/videos", job=job)
    assert maker_text(job) == "Priya · agent Film helper"
    text = page_text(client_of(mira).get(f"/api-keys/requests/{row.pk}/").content)
    assert "Agent Film helper of Priya Raman" in " ".join(text.split())
    assert load_key_options(mira)["key"] == {str(agent.pk): "Film helper, agent"}
