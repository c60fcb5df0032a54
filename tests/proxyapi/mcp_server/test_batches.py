"""An agent makes many films at once: one quote, one price, within its allowance."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from dashboard.batches.runner import advance_batch
from dashboard.models import Batch, Membership
from proxyapi.models import Charge, Draft, KeyScope, Token
from tests.dashboard.batches.conftest import add_past_renders, start
from tests.proxyapi.mcp_server.conftest import Agent
from tests.proxyapi.mcp_server.test_protocol import MAX_CHARS
from tests.proxyapi.mcp_server.test_several_items import decide
from tests.sandbox.conftest import SandboxClient

MakeAgent = Callable[..., Agent]


@pytest.fixture(autouse=True)
def _history(sandbox: SandboxClient, token: Token) -> None:
    """The options of the sandbox, and renders of 60 s at 88 to 100 credits with its first engine: a
    row may cost 127 for its render, and its script."""
    token.account.options = sandbox.get("/v2/faceless/options").json()["data"]
    token.account.costs = {"CONTENT_PROMPT_REQUESTED": {"credits": 4}}
    token.account.save()
    add_past_renders(token, 88, 96, 100)
    engine = token.account.options["mandatory"]["image_engines"][0]["id"]
    for draft in Draft.objects.all():
        draft.settings["image_engine_id"] = engine
        draft.save()


def rows(count: int = 2, **more: Any) -> list[dict[str, Any]]:
    return [
        {"title": f"Sea {number}", "topic": f"Why is sea {number} salty?", **more}
        for number in range(1, count + 1)
    ]


def quote(agent: Agent, *wanted: dict[str, Any], **more: Any) -> dict[str, Any]:
    return agent.call("quote_batch", rows=list(wanted) or rows(), name="Seas", **more)


def scripts_of(agent: Agent) -> int:
    return Charge.objects.filter(api_key=agent.key, operation="faceless.scripts").count()


def test_a_quote_covers_the_batch_and_is_spent_once(agent: Agent) -> None:
    quoted = quote(agent)
    assert quoted["status"] == "quoted", quoted
    assert quote(agent)["quote"] == quoted["quote"]
    assert quote(agent, copy=2)["quote"]["quote_id"] != quoted["quote"]["quote_id"]
    wanted = {name: quoted["quote"][name] for name in ("quote_id", "price")}
    answers = [*agent.at_once(3, "make", **wanted), agent.call("make", **wanted)]
    assert {answer["status"] for answer in answers} == {"in_progress"}
    batch = Batch.objects.get(started_at__isnull=False)
    assert (batch.key, batch.max_credits) == (agent.key, Decimal(quoted["quote"]["price"]))
    advance_batch(batch.pk)
    assert scripts_of(agent) == 2
    again = quote(agent)
    assert (again["status"], again["batch"]["batch_id"]) == ("in_progress", str(batch.pk))
    waited = agent.call("wait", id=str(batch.pk), seconds=0)
    assert (waited["status"], waited["batch"]["counts"]) == ("in_progress", {"begun": 2})
    assert {job["title"] for job in agent.call("list_videos")["jobs"]} == {"Sea 1", "Sea 2"}


def test_the_same_rows_at_once_are_one_batch(agent: Agent) -> None:
    answers = agent.at_once(4, "quote_batch", rows=rows(), name="Seas")
    assert len({answer["quote"]["quote_id"] for answer in answers}) == 1
    assert Batch.objects.count() == 1


@pytest.mark.parametrize("price", ["1", "many", 9_999_999])
def test_another_price_starts_nothing(agent: Agent, price: Any) -> None:
    quoted = quote(agent)
    answer = agent.call("make", quote_id=quoted["quote"]["quote_id"], price=price)
    assert (answer["status"], answer["quote"]) == ("price_changed", quoted["quote"])
    assert Batch.objects.get().is_draft


def test_a_price_that_changed_is_told_with_the_new_one(agent: Agent, token: Token) -> None:
    quoted = quote(agent)
    Charge.objects.update(cost=50)
    answer = agent.pay(quoted["quote"])
    assert answer["status"] == "price_changed"
    assert Decimal(answer["quote"]["price"]) < Decimal(quoted["quote"]["price"])
    assert agent.pay(answer["quote"])["status"] == "in_progress"


def test_the_allowance_holds_for_the_whole(make_agent: MakeAgent) -> None:
    agent = make_agent(allowance=Decimal(200))
    quoted = quote(agent)
    assert Decimal(quoted["quote"]["price"]) > 200
    paused = agent.pay(quoted["quote"])
    assert paused["status"] == "paused"
    assert paused["raise_url"]
    assert Batch.objects.get().is_draft
    type(agent.key).objects.filter(pk=agent.key.pk).update(allowance=Decimal(300))
    assert agent.pay(quoted["quote"])["status"] == "in_progress"


def test_above_the_most_for_one_charge_a_person_is_asked_and_it_can_be_withdrawn(
    make_agent: MakeAgent, priya: Membership
) -> None:
    agent = make_agent(charge_limit=Decimal(200))
    quoted = quote(agent)
    assert quoted["quote"]["approval_required"] is True
    asked = agent.pay(quoted["quote"])
    assert (asked["status"], asked["approval_url"]) == ("approval_required", asked["batch"]["link"])
    id = asked["batch"]["batch_id"]
    assert agent.call("wait", id=id, seconds=0)["status"] == "approval_required"
    assert agent.call("cancel_approval", id=id)["status"] == "quoted"
    assert agent.pay(quoted["quote"])["status"] == "approval_required"
    start(priya, Batch.objects.get())
    assert agent.call("wait", id=id, seconds=0)["status"] == "in_progress"


def test_one_approval_for_several_items_covers_a_batch(
    make_agent: MakeAgent, thea: Membership
) -> None:
    agent = make_agent(allowance=Decimal(0))
    quoted = quote(agent)
    assert agent.pay(quoted["quote"])["status"] == "paused"
    agent.call("request_approval", items=4, credits=300)
    decide(thea)
    assert agent.pay(quoted["quote"])["status"] == "in_progress"
    advance_batch(Batch.objects.get().pk)
    assert scripts_of(agent) == 2


def test_rows_with_problems_are_named_and_left_out(agent: Agent) -> None:
    none = quote(agent, {"title": "Empty"})
    assert none["status"] == "rows_wrong"
    (row,) = none["batch"]["rows"]
    assert (row["row"], row["state"]) == (1, "problem")
    assert row["why"].endswith("A topic, a script or a link is required.")
    mixed = quote(agent, *rows(1), {"title": "Empty"})
    assert mixed["quote"]["pays_for"] == "1 videos, those that are ready"
    assert agent.pay(mixed["quote"])["status"] == "in_progress"
    refused = agent.call("quote_batch", rows=[{"colour": "red"}])
    assert (refused["status"], refused["error"]["code"]) == ("refused", "GEN-WRONG-ARGS")


def test_its_rows_are_cancelled(agent: Agent) -> None:
    agent.pay(quote(agent, *rows(3))["quote"])
    batch = Batch.objects.get()
    advance_batch(batch.pk)
    cancelled = agent.call("cancel_approval", id=str(batch.pk))
    assert cancelled["batch"]["counts"] == {"begun": 2, "cancelled": 1}


def test_answers_about_many_rows_stay_short(agent: Agent) -> None:
    wrong = {"title": "x" * 120, "topic": "Why", "voice": "Nobody " * 30}
    answer = quote(agent, *rows(100), *[wrong] * 300)
    assert len(json.dumps(answer)) < MAX_CHARS
    assert len(answer["batch"]["rows"]) == 15
    agent.key.scopes = [KeyScope.READ]
    agent.key.save()
    assert agent.pay(answer["quote"])["error"]["code"] == "SCOPE-MISSING"
