"""What an agent spends: what a quote said, once, within what a person allowed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.budgets.actions import approve_request
from dashboard.models import ApprovalRequest, Membership, Team
from proxyapi.gateway import keys
from proxyapi.gateway.threads import in_thread
from proxyapi.mcp_server.desk import Desk
from proxyapi.models import ApiKey, Charge, ChargeState, Job, KeyScope, Quote
from proxyapi.models.charge import CHARGED_STATES
from tests.proxyapi.gateway.conftest import Worker
from tests.proxyapi.mcp_server.conftest import FILM, Agent, finish_render
from tests.sandbox.conftest import SandboxClient

MakeAgent = Callable[..., Agent]
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def test_without_a_quote_the_open_ones_are_named(agent: Agent) -> None:
    assert agent.call("make")["status"] == "quote_required"
    quoted = agent.call("quote", **FILM)["quote"]
    for wanted in ({}, {"quote_id": quoted["quote_id"]}, {"price": quoted["price"]}):
        answer = agent.call("make", **wanted)
        assert answer["status"] == "quote_required"
        assert [row["quote_id"] for row in answer["quotes"]] == [quoted["quote_id"]]
    assert not Charge.objects.exists()


@pytest.mark.parametrize("price", ["1", 0.5, "ten", "NaN"])
def test_another_price_charges_nothing(agent: Agent, price: Any) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    answer = agent.call("make", quote_id=quoted["quote_id"], price=price)
    assert answer["status"] in ("price_changed", "quote_required")
    assert not Charge.objects.exists()


def test_a_price_that_rose_is_told_with_a_new_quote(agent: Agent) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    low = {"price": 1, "hold": 1}
    Quote.objects.update(**low)
    answer = agent.call("make", quote_id=quoted["quote_id"], price=1)
    assert (answer["status"], answer["quote"]["price"]) == ("price_changed", quoted["price"])
    assert not Charge.objects.exists()
    assert agent.pay(answer["quote"])["status"] == "rendering"
    assert agent.call("quote", **FILM)["status"] == "made"


def test_an_expired_quote_brings_a_new_one(agent: Agent) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    Quote.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = agent.pay(quoted)
    assert answer["status"] == "quote_expired"
    assert answer["quote"]["quote_id"] != quoted["quote_id"]
    assert agent.call("quote", **FILM)["quote"] == answer["quote"]
    assert Job.objects.count() == 1
    assert agent.pay(answer["quote"])["status"] == "rendering"


def test_a_quote_of_another_agent_is_none(make_agent: MakeAgent) -> None:
    quoted = make_agent().call("quote", **FILM)["quote"]
    assert make_agent().pay(quoted)["status"] == "quote_required"
    assert not Charge.objects.exists()


def test_two_makes_of_one_quote_are_one_charge(agent: Agent) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    wanted = {"quote_id": quoted["quote_id"], "price": quoted["price"]}
    answers = [*agent.at_once(4, "make", **wanted), agent.call("make", **wanted)]
    assert {answer["status"] for answer in answers} <= {"rendering", "in_progress"}
    ids = {answer["charge"]["charge_id"] for answer in answers if "charge" in answer}
    assert ids == {str(Charge.objects.get().pk)}


def test_an_agent_that_forgets_everything_gets_the_same_film(agent: Agent) -> None:
    """It quotes at once twice, pays, and begins from the start."""
    quoted = agent.at_once(2, "quote", **FILM)
    assert len({answer["quote"]["quote_id"] for answer in quoted}) == 1
    agent.pay(quoted[0]["quote"])
    again = agent.call("quote", **FILM)
    assert (again["status"], again["charge"]["state"]) == ("made", "confirmed")
    assert "quote" not in again
    assert Charge.objects.count() == Job.objects.count() == 1


def test_two_quotes_of_one_order_are_paid_once(agent: Agent) -> None:
    """As of two processes that did not see each other."""
    first = agent.call("quote", **FILM)["quote"]
    row = Quote.objects.get()
    row.pk = None
    Quote.objects.create(**{f.name: getattr(row, f.name) for f in row._meta.fields[1:]})
    second = Quote.objects.exclude(pk=first["quote_id"].partition("_")[2]).get()
    agent.pay(first)
    answer = agent.pay({**first, "quote_id": f"quote_{second.pk.hex}"})
    assert answer["charge"]["charge_id"] == str(Charge.objects.get().pk)


def test_a_call_that_is_cancelled_was_paid_once(agent: Agent, worker: Worker) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    worker.is_busy = True

    async def give_up() -> None:
        wanted = {"quote_id": quoted["quote_id"], "price": quoted["price"]}
        asked = asyncio.create_task(agent.ask("make", **wanted))
        while not await in_thread(Charge.objects.exists):
            await asyncio.sleep(0.02)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)

    agent.loop.run(give_up())
    worker.is_busy = False
    worker.dispatch(Charge.objects.get().pk)
    assert agent.pay(quoted)["status"] == "rendering"
    assert Charge.objects.count() == 1


def test_a_lost_answer_is_unknown_and_never_ordered_again(
    agent: Agent, sandbox: SandboxClient
) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    path = f"/v2/faceless/{Job.objects.get().remote_id}/render"
    rule = {"match": {"path": path, "method": "POST"}, "when": "after"}
    made = sandbox.post("/_sandbox/faults", {**rule, "action": "close", "times": 1})
    assert made.is_success, made.text
    answer = agent.pay(quoted)
    assert answer["status"] in ("unknown", "rendering"), answer
    again = agent.call("quote", **FILM)
    assert again["charge"]["charge_id"] == answer["charge"]["charge_id"]


@pytest.mark.parametrize(
    ("state", "status"),
    [
        (ChargeState.UNKNOWN, "unknown"),
        (ChargeState.DRAFT, "approval_required"),
        (ChargeState.CONFIRMED, "made"),
    ],
)
def test_an_order_is_called_paid_only_if_it_is_known(
    agent: Agent, state: ChargeState, status: str
) -> None:
    agent.pay(agent.call("quote", **FILM)["quote"])
    Charge.objects.update(state=state)
    again = agent.call("quote", **FILM)
    assert (again["status"], "quote" in again) == (status, False)


def test_an_agent_in_a_loop_is_paused_at_its_allowance_and_goes_on_when_it_is_raised(
    make_agent: MakeAgent,
) -> None:
    agent = make_agent(allowance=Decimal(50))
    answers = []
    for number in range(1, 40):
        quoted = agent.call("quote", **FILM, copy=number)["quote"]
        answers.append(agent.pay(quoted))
        if answers[-1]["status"] == "paused":
            break
    assert answers[-1]["status"] == "paused"
    assert answers[-1]["raise_url"].endswith("/agents/")
    assert len(answers) > 1
    assert sum(charge.cost or charge.hold for charge in Charge.objects.all()) <= 50
    assert Decimal(agent.call("show_credits")["credits"]["may_still_spend"]["allowance"]) < Decimal(
        quoted["upper_bound"]
    )
    ApiKey.objects.update(allowance=Decimal(500))
    assert agent.pay(quoted)["status"] == "rendering"


def test_above_the_amount_at_once_a_person_is_asked(
    make_agent: MakeAgent, thea: Membership, sandbox: SandboxClient
) -> None:
    agent = make_agent(allowance=Decimal(500), charge_limit=Decimal(1))
    quoted = agent.call("quote", **FILM)["quote"]
    assert quoted["approval_required"] is True
    asked = agent.pay(quoted)
    assert asked["status"] == "approval_required"
    approval = ApprovalRequest.objects.get()
    assert asked["approval_url"].endswith(f"{approval.pk}/")
    charge_id = asked["charge"]["charge_id"]
    assert agent.call("wait", id=charge_id, seconds=0)["status"] == "approval_required"
    approve_request(by=thea, approval=approval)
    while (status := agent.call("wait", id=charge_id, seconds=0)["status"]) == "in_progress":
        pass  # the worker sends it
    assert status == "rendering"
    assert agent.call("cancel_approval", id=charge_id)["error"]["code"] == "NOT-CANCELLED"


def test_a_request_for_approval_is_cancelled_and_asked_again(make_agent: MakeAgent) -> None:
    Team.objects.update(second_person_above=1)
    agent = make_agent()
    asked = agent.pay(agent.call("quote", **FILM)["quote"])
    ended = agent.call("cancel_approval", id=asked["charge"]["charge_id"])
    assert (ended["status"], ended["charge"]["state"]) == ("not_charged", "refused")
    new = agent.call("quote", **FILM)["quote"]
    assert agent.pay(new)["status"] == "approval_required"


def test_scopes_hold(make_agent: MakeAgent) -> None:
    reader = make_agent(scopes=(KeyScope.READ,))
    refused = reader.call("quote", **FILM)
    assert (refused["status"], refused["error"]["code"]) == ("refused", "SCOPE-MISSING")
    assert "balance" not in reader.call("show_credits")["credits"]
    assert reader.call("list_videos")["status"] == "ok"
    blind = make_agent(scopes=(KeyScope.RENDER,))
    assert blind.call("list_videos")["error"]["code"] == "SCOPE-MISSING"


def test_a_paused_agent_reads_and_spends_nothing(agent: Agent) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    ApiKey.objects.update(paused_at=timezone.now())
    assert agent.pay(quoted)["error"]["code"] == "KEY-PAUSED"
    assert agent.call("list_videos")["status"] == "ok"
    assert not Charge.objects.exists()


def test_nothing_is_left_to_a_removed_member(agent: Agent, priya: Membership) -> None:
    quoted = agent.call("quote", **FILM)["quote"]
    priya.delete()
    assert agent.pay(quoted)["status"] == "refused"
    assert agent.call("list_videos")["status"] == "refused"
    assert not Charge.objects.exclude(state=ChargeState.REFUSED).exists()


def test_a_revoked_key_is_not_let_in(agent: Agent) -> None:
    keys.revoke_keys([agent.key], timezone.now())
    with pytest.raises(Exception, match=r"unhandled errors|401|Unauthorized"):
        agent.call("list_videos")


def test_an_agent_that_is_ended_amid_a_render_leaves_a_film_that_was_paid_once(
    agent: Agent, sandbox: SandboxClient
) -> None:
    made = agent.pay(agent.call("quote", **FILM)["quote"])
    assert made["status"] == "rendering"
    ApiKey.objects.update(revoked_at=timezone.now())
    with pytest.raises(Exception, match=r"unhandled errors|401|Unauthorized"):
        agent.call("wait", id=made["job"]["job_id"], seconds=0)
    finish_render(sandbox, made["job"]["job_id"])
    assert Job.objects.get().state == "completed"
    assert Charge.objects.get().state in CHARGED_STATES


def test_a_scope_that_is_taken_away_is_missing_in_a_connection_that_is_open(agent: Agent) -> None:
    async def quote_and_make() -> Any:
        async with agent.connect() as client:
            quoted = (await client.call_tool("quote", FILM)).structured_content["quote"]
            await in_thread(ApiKey.objects.update, scopes=["read", "create"])
            wanted = {"quote_id": quoted["quote_id"], "price": quoted["price"]}
            return (await client.call_tool("make", wanted)).structured_content

    assert agent.loop.run(quote_and_make())["error"]["code"] == "SCOPE-MISSING"
    assert not Charge.objects.exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [({"scopes": ["render"]}, "SCOPE-MISSING"), ({"revoked_at": LONG_AGO}, "GEN-UNAUTHORIZED")],
    ids=["scope", "end"],
)
def test_a_wait_ends_with_the_right_to_read(
    change: dict[str, Any], code: str, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxyapi.mcp_server.desk.LOOK_EVERY_S", 0.01)
    made = agent.pay(agent.call("quote", **FILM)["quote"])
    looked = asyncio.Event()
    real = Desk.read_outcome

    async def look(desk: Desk, found: Any) -> Any:
        looked.set()
        return await real(desk, found)

    monkeypatch.setattr(Desk, "read_outcome", look)

    async def take_away() -> Any:
        waiting = asyncio.create_task(agent.ask("wait", id=made["job"]["job_id"], seconds=50))
        await looked.wait()
        await in_thread(lambda: ApiKey.objects.update(**change))
        return (await waiting).structured_content

    assert agent.loop.run(take_away())["error"]["code"] == code
