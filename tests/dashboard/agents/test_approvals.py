"""Several items that an agent asks for: the dialog of the person who decides, and the row."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.agents.pages import load_agents_page
from dashboard.api_keys.agent_approvals import request_items, withdraw
from dashboard.models import AgentApproval, AuditEvent, Membership
from proxyapi.models import ApiKey, Charge
from tests.dashboard.agents.test_page import MakeAgent, make_agent
from tests.pages import page_text

__all__ = ["make_agent"]
ClientOf = Callable[..., Client]


@pytest.fixture
def agent(make_agent: MakeAgent) -> ApiKey:
    return make_agent(charge_limit=Decimal(25))


@pytest.fixture
def asked(agent: ApiKey) -> AgentApproval:
    return request_items(agent, items=5, credits=Decimal(100), hours=24, reason="Five <b>teasers")


def url_of(approval: AgentApproval) -> str:
    return f"/agents/approvals/{approval.pk}/"


def test_the_dialog_says_what_is_asked_for_and_the_row_that_it_waits(
    asked: AgentApproval, thea: Membership, client_of: ClientOf
) -> None:
    text = page_text(client_of(thea).get(url_of(asked)).content)
    assert "Approve 5 items of Film helper?" in text
    assert "It says: “Five <b>teasers”" in text
    assert "At most, for all of them 100 cr" in text
    assert "Nothing is charged now." in text and "You are the second person." in text
    assert "Asks for 5 items, 100 cr" in text
    assert load_agents_page(thea)["rows"][0]["state"]["word"] == "Asks for approval"


@pytest.mark.parametrize("who", ["thea", "priya"])
def test_the_member_and_who_manages_money_approve_it_once_until_it_ends(
    who: str, asked: AgentApproval, client_of: ClientOf, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(who))
    answer = browser.post(url_of(asked), {"decision": "approved"}, follow=True)
    assert "Film helper may charge 100 cr for 5 items until" in page_text(answer.content)
    asked.refresh_from_db()
    assert asked.expires_at is not None
    assert timedelta(hours=23) < asked.expires_at - timezone.now() <= timedelta(hours=24)
    for late in ("approved", "declined"):
        refused = browser.post(url_of(asked), {"decision": late})
        assert refused.status_code == 422
        assert "decided or withdrawn meanwhile. Nothing was changed." in page_text(refused.content)
    assert "0 of 5 approved items" in page_text(browser.get("/agents/").content)
    assert browser.post(url_of(asked), {"decision": "ended"}).status_code == 302
    asked.refresh_from_db()
    assert not asked.is_in_force
    decisions = AuditEvent.objects.filter(action="agent.approval").order_by("position")
    assert [row.after["decision"] for row in decisions] == ["approved", "ended"]


@pytest.mark.parametrize("who", ["jonas", "luca", "vera"])
def test_nobody_else_decides(
    who: str, asked: AgentApproval, client_of: ClientOf, request: pytest.FixtureRequest
) -> None:
    browser = client_of(request.getfixturevalue(who))
    assert browser.get(url_of(asked)).status_code == 404
    assert browser.post(url_of(asked), {"decision": "approved"}).status_code == 404
    assert AgentApproval.objects.get().decision == ""


@pytest.mark.parametrize("decision", ["", "withdrawn", "yes"])
def test_a_decision_that_no_person_makes_is_refused(
    decision: str, asked: AgentApproval, priya: Membership, client_of: ClientOf
) -> None:
    client_of(priya).post(url_of(asked), {"decision": decision})
    assert AgentApproval.objects.get().decision == ""


def test_it_ends_with_its_agent(
    asked: AgentApproval, agent: ApiKey, priya: Membership, client_of: ClientOf
) -> None:
    soon = timezone.now() + timedelta(hours=2)
    ApiKey.objects.update(expires_at=soon)
    client_of(priya).post(url_of(asked), {"decision": "approved"})
    assert AgentApproval.objects.get().expires_at == soon


@pytest.mark.parametrize("field", ["expires_at", "revoked_at"])
def test_nothing_is_approved_for_an_agent_that_ended(
    field: str, asked: AgentApproval, priya: Membership, client_of: ClientOf
) -> None:
    ApiKey.objects.update(**{field: timezone.now()})
    answer = client_of(priya).post(url_of(asked), {"decision": "approved"})
    assert answer.status_code == 422
    assert AgentApproval.objects.get().decision == ""


def test_a_withdrawn_request_is_not_approved(
    asked: AgentApproval, agent: ApiKey, priya: Membership, client_of: ClientOf
) -> None:
    withdraw(agent, asked.pk)
    browser = client_of(priya)
    assert "is over" in page_text(browser.get(url_of(asked)).content)
    assert browser.post(url_of(asked), {"decision": "approved"}).status_code == 422


def test_the_row_and_the_sum_of_an_ended_agent_tell_both_apart(
    asked: AgentApproval,
    agent: ApiKey,
    spend: Callable[..., Charge],
    priya: Membership,
    client_of: ClientOf,
) -> None:
    client_of(priya).post(url_of(asked), {"decision": "approved"})
    spend(agent, cost=12)
    asked.items.create(charge=spend(agent, cost=30))
    (row,) = load_agents_page(priya)["rows"]
    assert (row["left"], row["limits"][0]["spent"]) == (38, 12)
    assert "1 of 5 approved items" in page_text(client_of(priya).get("/agents/").content)
    ApiKey.objects.update(revoked_at=timezone.now())
    (row,) = load_agents_page(priya)["ended"]
    assert row["spent_in_all"] == 42
