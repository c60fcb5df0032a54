"""One approval for several items up to an amount: what it lets an agent charge, and what not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.agents.actions import decide_approval
from dashboard.models import AgentApproval, AgentDecision, AuditEvent, Budget, Membership, Team
from proxyapi.models import ApiKey, Charge, ChargeState
from tests.proxyapi.mcp_server.conftest import FILM, Agent

MakeAgent = Callable[..., Agent]
PAID = ("rendering", "in_progress", "charged", "completed")


@pytest.fixture
def agent(make_agent: MakeAgent) -> Agent:
    """It may spend nothing without a person."""
    return make_agent(allowance=Decimal(0), expires_at=timezone.now() + timedelta(days=7))


def quote_films(agent: Agent, count: int) -> list[dict[str, Any]]:
    return [agent.call("quote", **FILM, copy=number)["quote"] for number in range(1, count + 1)]


def ask(agent: Agent, items: int = 2, credits: int = 500, **more: Any) -> dict[str, Any]:
    return agent.call("request_approval", items=items, credits=credits, **more)


def decide(by: Membership, decision: AgentDecision = AgentDecision.APPROVED) -> AgentApproval:
    approval = AgentApproval.objects.latest("requested_at")
    return decide_approval(by=by, approval=approval, decision=decision)


def test_a_person_approves_once_and_the_items_are_made_until_they_are_used_up(
    agent: Agent, thea: Membership
) -> None:
    films = quote_films(agent, 3)
    asked = ask(agent, reason="Two teasers")
    assert asked["status"] == "approval_required"
    id = asked["approval"]["approval_id"]
    assert asked["approval_url"] == f"http://localhost:8000/agents/approvals/{id}/"
    assert agent.pay(films[0])["status"] == "paused"
    decide(thea)
    assert agent.call("wait", id=id, seconds=0)["status"] == "approved"
    assert [agent.pay(film)["status"] in PAID for film in films] == [True, True, False]
    assert agent.pay(films[1])["status"] in PAID  # the same again is the same charge
    assert Charge.objects.exclude(state=ChargeState.REFUSED).count() == 2
    left = agent.call("wait", id=id, seconds=0)["approval"]
    assert left["items_left"] == 0
    used = sum(charge.cost or charge.hold for charge in Charge.objects.all())
    assert Decimal(left["credits_left"]) == 500 - used
    actions = AuditEvent.objects.filter(action__startswith="agent.").order_by("position")
    assert [(row.action, row.after["decision"]) for row in actions] == [
        ("agent.approval_request", ""),
        ("agent.approval", "approved"),
    ]


def test_what_is_approved_counts_beside_the_allowance_and_not_in_it(
    make_agent: MakeAgent, thea: Membership
) -> None:
    agent = make_agent(allowance=Decimal(500), charge_limit=Decimal(1))
    (film,) = quote_films(agent, 1)
    ask(agent)
    decide(thea)
    assert agent.pay(film)["status"] in PAID
    may = agent.call("show_credits")["credits"]["may_still_spend"]
    assert Decimal(may["allowance"]) == 500
    assert Decimal(may["approved_beside"]) < 500


def test_what_the_allowance_holds_uses_no_approved_item(
    make_agent: MakeAgent, thea: Membership
) -> None:
    agent = make_agent(allowance=Decimal(500))
    (film,) = quote_films(agent, 1)
    ask(agent)
    decide(thea)
    assert agent.pay(film)["status"] in PAID
    assert AgentApproval.objects.with_usage().get().used_items == 0


def test_of_two_at_once_one_gets_the_last_item(agent: Agent, thea: Membership) -> None:
    films = quote_films(agent, 2)
    ask(agent, items=1)
    decide(thea)

    async def pay_all() -> list[Any]:
        wanted = [{"quote_id": film["quote_id"], "price": film["price"]} for film in films]
        return await asyncio.gather(*(agent.ask("make", **each) for each in wanted))

    found = [result.structured_content["status"] for result in agent.loop.run(pay_all())]
    assert sorted(status in PAID for status in found) == [False, True]


def test_the_credits_end_before_the_items(agent: Agent, thea: Membership) -> None:
    films = quote_films(agent, 2)
    ask(agent, items=50, credits=int(Decimal(films[0]["upper_bound"])) + 1)
    decide(thea)
    assert agent.pay(films[0])["status"] in PAID
    assert agent.pay(films[1])["status"] == "paused"


@pytest.mark.parametrize("how", ["expired", "ended", "declined", "withdrawn", "waiting", "paused"])
def test_without_an_approval_in_force_nothing_is_charged(
    how: str, agent: Agent, thea: Membership
) -> None:
    (film,) = quote_films(agent, 1)
    id = ask(agent)["approval"]["approval_id"]
    if how == "declined":
        decide(thea, AgentDecision.DECLINED)
    elif how == "withdrawn":
        assert agent.call("cancel_approval", id=id)["status"] == "not_approved"
    elif how != "waiting":
        decide(thea)
    if how == "expired":
        AgentApproval.objects.update(expires_at=timezone.now())
    elif how == "ended":
        decide(thea, AgentDecision.ENDED)
    elif how == "paused":
        ApiKey.objects.update(paused_at=timezone.now())
        agent.key.refresh_from_db()
    assert agent.pay(film)["status"] in ("paused", "refused")
    assert not Charge.objects.exists()
    told = agent.call("wait", id=id, seconds=0)["status"]
    expected = {"waiting": "approval_required", "paused": "approved"}.get(how, "not_approved")
    assert told == expected


def test_an_item_that_was_refused_or_refunded_is_left_again(agent: Agent, thea: Membership) -> None:
    films = quote_films(agent, 2)
    ask(agent, items=1)
    decide(thea)
    assert agent.pay(films[0])["status"] in PAID
    Charge.objects.update(refunded_at=timezone.now())
    assert agent.pay(films[1])["status"] in PAID


def test_only_another_person_lifts_the_second_person_rule(
    make_agent: MakeAgent, priya: Membership, thea: Membership
) -> None:
    agent = make_agent(allowance=Decimal(0))
    (film,) = quote_films(agent, 1)
    Team.objects.update(second_person_above=1)
    ask(agent)
    decide(priya)  # her own agent
    assert agent.pay(film)["status"] != "rendering"
    assert not Charge.objects.filter(approval_item__isnull=False).exists()
    ask(agent, items=3)
    decide(thea)
    assert agent.pay(agent.call("quote", **FILM, copy=2)["quote"])["status"] in PAID


def test_budgets_hold_for_approved_items(agent: Agent, thea: Membership) -> None:
    (film,) = quote_films(agent, 1)
    ask(agent)
    decide(thea)
    Budget.objects.create(team=thea.team, period="month", hard=1)
    refused = agent.pay(film)
    assert (refused["status"], Charge.objects.count()) == ("refused", 0)
    assert "1 of the team’s 1 are left" in refused["message"]


def test_the_same_request_again_is_one_and_another_takes_its_place(
    agent: Agent, thea: Membership
) -> None:
    first = ask(agent)["approval"]["approval_id"]
    assert ask(agent)["approval"]["approval_id"] == first
    second = ask(agent, items=5)["approval"]["approval_id"]
    assert agent.call("wait", id=first, seconds=0)["approval"]["state"] == "withdrawn"
    decide(thea)
    assert ask(agent, items=5)["approval"]["approval_id"] == second
    assert AgentApproval.objects.count() == 2


@pytest.mark.parametrize("credits", ["", "many", 0, -5, "NaN", 10_000_000])
def test_an_amount_that_is_none_asks_nobody(agent: Agent, credits: Any) -> None:
    refused = agent.call("request_approval", items=2, credits=credits)
    assert "credits must be an amount from 1 to 9999999." in refused["message"]
    assert not AgentApproval.objects.exists()


def test_nobody_reads_or_withdraws_the_request_of_another_agent(make_agent: MakeAgent) -> None:
    id = ask(make_agent())["approval"]["approval_id"]
    other = make_agent()
    for tool in ("wait", "cancel_approval"):
        assert other.call(tool, id=id)["error"]["code"] == "GEN-NOT-FOUND"
    assert AgentApproval.objects.get().decision == ""
