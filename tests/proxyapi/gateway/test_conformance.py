"""Through the gateway every endpoint of the specification answers what the service answers, and
whatever happens to an answer, a charge is paid once."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import httpx
import pytest

from dashboard.models import Membership
from proxyapi.models import Charge
from proxyapi.operations import OPERATIONS
from tests.contract import spec
from tests.contract.recipes import RECIPES, PreparedRequest
from tests.examples import examples
from tests.proxyapi.gateway.conftest import Script, Worker
from tests.proxyapi.gateway.sandbox_script import prepare, script_of, use_sandbox
from tests.sandbox.conftest import SandboxClient

ROWS = sorted(spec.endpoints())
CHARGING = {(row.method, row.path) for row in OPERATIONS.values() if row.charging}
CHARGING_ROWS = [row for row in ROWS if (row.method, row.path) in CHARGING]
FAULTS = [
    *(("after", action) for action in ("close", "status", "html", "malformed_json", "half_body")),
    *(("before", action) for action in ("close", "status", "html")),
]

# Each charging operation with one fault; in the drill with all.
FAULTED_ROWS = examples(
    list(zip(CHARGING_ROWS, cycle(FAULTS), strict=False)), list(product(CHARGING_ROWS, FAULTS))
)


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[SandboxClient]:
    with asyncio.Runner() as runner:
        yield SandboxClient(tmp_path, runner, db=None)


@pytest.fixture
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def test_every_endpoint_answers_as_the_service_does(
    sandbox: SandboxClient,
    loop: asyncio.Runner,
    worker: Worker,
    mira: Membership,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_sandbox(sandbox, monkeypatch)
    misses = []
    for row in ROWS:
        asked = prepare(sandbox, row)
        direct = sandbox.call(asked.method, asked.path, **asked.sent)
        asked = prepare(sandbox, row)
        script = script_of(sandbox, mira, loop)
        before = balance(sandbox)
        answer = script.call(asked.method, asked.path.removeprefix("/v2"), **asked.sent)
        if told := differences(direct, answer):
            misses.append(f"{row}: {told}")
        charge = Charge.objects.filter(pk=answer.headers.get("reelroom-charge-id")).first()
        spent, booked = before - balance(sandbox), charge.cost if charge else 0
        if spent != booked:
            misses.append(f"{row}: {spent} credits were paid, {booked} are booked")
    assert misses == []


def differences(direct: httpx.Response, answer: httpx.Response) -> str:
    same = (direct.status_code, direct.json()) == (answer.status_code, answer.json())
    is_json = answer.headers["content-type"] == direct.headers["content-type"]
    return "" if same and is_json else f"{direct.status_code} {direct.text} ≠ {answer.text}"


def balance(sandbox: SandboxClient) -> Any:
    return sandbox.money()["balance"]


@pytest.mark.parametrize("header", ["Idempotency-Key", "Reelroom-Quote"])
def test_whatever_happens_to_an_answer_it_is_paid_once(
    header: str,
    sandbox: SandboxClient,
    loop: asyncio.Runner,
    worker: Worker,
    mira: Membership,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    use_sandbox(sandbox, monkeypatch)
    misses = []
    for row, (when, action) in FAULTED_ROWS:
        asked = prepare(sandbox, row)
        script = script_of(sandbox, mira, loop)
        path = asked.path.removeprefix("/v2")
        value = "the same" if header == "Idempotency-Key" else quote_of(script, asked)
        before = balance(sandbox)
        rule = {"match": {"path": asked.path, "method": asked.method}, "when": when}
        made = sandbox.post("/_sandbox/faults", {**rule, "action": action, "times": 1})
        assert made.is_success, made.text
        # A client that repeats what it has no answer to, as client libraries do.
        answers = [
            script.call(asked.method, path, headers={header: value}, **asked.sent) for _ in range(3)
        ]
        spent = before - balance(sandbox)
        most = RECIPES[row].charges or 0
        expected = most if when == "after" else 0
        statuses = [answer.status_code for answer in answers]
        if spent != expected or max(statuses) >= 500 or sandbox.money()["double_charges"]:
            misses.append(f"{row} {when} {action}: {spent} of {expected} paid, {statuses}")
        if len({answer.headers.get("reelroom-charge-id") for answer in answers}) != 1:
            misses.append(f"{row} {when} {action}: several charges")
    assert misses == []


def quote_of(script: Script, asked: PreparedRequest) -> str:
    """The id of a quote for this request."""
    files = [
        {"field": field, "sha256": hashlib.sha256(file[1]).hexdigest()}
        for field, file in files_of(asked)
    ]
    body = asked.sent.get("json") or asked.sent.get("data")
    path = asked.path.removeprefix("/v2")
    wanted = {"method": asked.method, "path": path, "body": body, "files": files}
    answer = script.call("POST", "/_quotes", json=wanted)
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["quote"])


def files_of(asked: PreparedRequest) -> list[Any]:
    files = asked.sent.get("files") or {}
    return list(files.items()) if isinstance(files, dict) else list(files)
