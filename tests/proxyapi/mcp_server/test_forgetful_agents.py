"""An agent in a loop that forgets, is cut off and loses answers never pays twice for an order and
never spends more than its allowance."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from proxyapi.models import Charge, ChargeState
from tests.examples import examples
from tests.proxyapi.mcp_server.conftest import FILM, SETTINGS, Agent
from tests.sandbox.conftest import SandboxClient

ALLOWANCE = Decimal(50)
STEPS = 12
TOPIC = {"kind": "video", "topic": "why the sea is salty", "settings": SETTINGS}
FAULTS = [(when, action) for when in ("before", "after") for action in ("close", "status", "html")]


@pytest.mark.parametrize("seed", range(examples(3, 200)))
def test_no_order_is_paid_twice(
    make_agent: Callable[..., Agent], sandbox: SandboxClient, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    agent = make_agent(allowance=ALLOWANCE)
    orders: list[dict[str, Any]] = [TOPIC, *({**FILM, "copy": number} for number in range(1, 6))]
    before = balance(sandbox)
    for _ in range(STEPS):
        if chance.random() < 0.3:
            when, action = chance.choice(FAULTS)
            rule = {"match": {"method": chance.choice(["POST", "PUT", "GET"])}, "when": when}
            made = sandbox.post("/_sandbox/faults", {**rule, "action": action, "times": 1})
            assert made.is_success, made.text
        agent.loop.run(work_once(agent, chance, chance.choice(orders)))
    assert sandbox.call("DELETE", "/_sandbox/faults").is_success  # one may be left for `balance`
    sent = Charge.objects.exclude(state=ChargeState.REFUSED)
    steps = [(charge.job_id, charge.operation) for charge in sent]
    assert len(steps) == len(set(steps))
    renders = [charge for charge in sent if charge.operation == "faceless.render"]
    assert len(renders) <= len(orders)
    assert before - balance(sandbox) <= ALLOWANCE
    assert sandbox.money()["double_charges"] == []
    assert sum(charge.cost or charge.hold for charge in sent) <= ALLOWANCE


async def work_once(agent: Agent, chance: random.Random, order: dict[str, Any]) -> None:
    """Begin from the start, as a model without a memory, perhaps twice at once, and perhaps cut
    off."""

    async def begin() -> None:
        quoted = (await agent.ask("quote", **order)).structured_content
        if not quoted or quoted["status"] != "quoted":
            return
        quote = quoted["quote"]
        wanted = {"quote_id": quote["quote_id"], "price": quote["price"]}
        times = chance.choice([1, 1, 2])
        await asyncio.gather(*(agent.ask("make", **wanted) for _ in range(times)))

    running = [asyncio.create_task(begin()) for _ in range(chance.choice([1, 1, 2]))]
    if chance.random() < 0.3:
        await asyncio.wait(running, timeout=chance.random() / 4)
        for task in running:
            task.cancel()
    await asyncio.gather(*running, return_exceptions=True)


def balance(sandbox: SandboxClient) -> Decimal:
    return Decimal(sandbox.get("/v2/me").json()["data"]["credits"]["remaining"])
