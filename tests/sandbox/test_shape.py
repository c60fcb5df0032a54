"""The description at /openapi.json tells the truth, and the sandbox stays a leaf."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel

from proxyapi.sandbox.api import shapes
from proxyapi.sandbox.faults import ACTIONS
from proxyapi.sandbox.scenarios import SCENARIOS
from proxyapi.sandbox.settings import Settings
from tests.sandbox.conftest import READY_SETTINGS

ROOT = Path(__file__).parents[2]
SPEC = ROOT / "docs" / "spec" / "video-generation-api-v2.md"


def test_the_answers_are_what_the_description_says(sandbox):
    number = sandbox.draft(**READY_SETTINGS)
    asked: dict[str, type[BaseModel]] = {
        "/v2/me": shapes.Envelope[shapes.AccountShape],
        "/v2/credits/costs": shapes.Envelope[dict[str, shapes.CostShape]],
        "/v2/account/auto-topup": shapes.Envelope[shapes.TopUpShape],
        "/v2/faceless/options": shapes.Envelope[shapes.OptionsShape],
        f"/v2/faceless/{number}/estimate": shapes.Envelope[shapes.EstimateShape],
    }
    for path, shape in asked.items():
        shape.model_validate(sandbox.get(path).json(), strict=True, extra="forbid")
    started = sandbox.post(f"/v2/faceless/{number}/render").json()
    shapes.Charged[shapes.FacelessShape].model_validate(started, strict=True, extra="forbid")
    sandbox.advance(60)
    sandbox.post(f"/v2/faceless/{number}/export")
    shown = sandbox.get(f"/v2/faceless/{number}").json()
    shapes.Envelope[shapes.FacelessShape].model_validate(shown, strict=True, extra="forbid")
    shapes.ListEnvelope[shapes.EntryShape].model_validate(sandbox.get("/v2/credits/history").json())


def test_the_description_has_the_paths_of_the_spec(sandbox):
    described = sandbox.get("/openapi.json").json()
    assert described["openapi"].startswith("3.1")
    paths = [path for path in described["paths"] if path.startswith("/v2/")]
    listed = set(re.findall(r"/[a-z][a-z/{}-]*", SPEC.read_text()))
    for path in paths:
        # "same set under /ai-visuals"
        names = {path.removeprefix("/v2"), path.replace("/v2/ai-visuals", "/b-roll")}
        assert names & listed, path
        assert set(described["paths"][path]) <= {"get", "post", "put", "patch"}
    before_control = sandbox.get("/openapi.json").text.partition("_sandbox")[0]
    assert "HTTPValidationError" not in before_control
    assert sandbox.get("/docs").status_code == 200


@pytest.mark.slow
def test_the_sandbox_imports_neither_django_nor_the_client():
    """Asks a fresh interpreter."""
    ask = (
        "import sys, proxyapi.sandbox.server\n"
        "roots = {name.partition('.')[0] for name in sys.modules}\n"
        "print(sorted(roots & {'django', 'httpx', 'celery', 'numpy', 'av', 'PIL'}),"
        " [name for name in sys.modules if name.startswith('proxyapi.upstream')])"
    )
    told = subprocess.run(
        [sys.executable, "-c", ask], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[] []"


BAD_BODIES = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"title": "\\ud800"}',
    b'{"title": "\xff"}',
    b'{"voice_id": 1e400, "units": NaN}',
    b'{"genre_id": 123456789012345678901234567890}',
]


@pytest.mark.parametrize("body", BAD_BODIES)
def test_no_body_brings_the_sandbox_down(sandbox, body):
    number = sandbox.draft()
    headers = {"Content-Type": "application/json"}
    for method, path in (
        ("POST", "/v2/faceless"),
        ("PATCH", f"/v2/faceless/{number}"),
        ("PUT", f"/v2/faceless/{number}/scripts"),
        ("POST", f"/v2/faceless/{number}/export"),
        ("PUT", "/v2/account/auto-topup"),
        ("PUT", "/_sandbox/settings"),
        ("PUT", "/_sandbox/snapshot"),
        ("POST", "/_sandbox/faults"),
    ):
        answer = sandbox.call(method, path, content=body, headers=headers)
        assert answer.status_code < 500, (method, path, answer.text)
    assert sandbox.get("/v2/me").status_code == 200


def test_a_topic_with_braces_and_brackets_is_only_a_topic(sandbox):
    sent = {"topic": "{topic} [a|b] {0} %s", "duration": 30}
    data = sandbox.put(f"/v2/faceless/{sandbox.draft()}/scripts", sent).json()["data"]
    assert "(topic) [a|b] (0) %s" in data["script"]


def test_every_setting_and_every_fault_is_in_the_documentation():
    text = (ROOT / "docs" / "sandbox.md").read_text()
    names = [*Settings.model_fields, *ACTIONS, *SCENARIOS]
    assert [name for name in names if f"`{name}`" not in text] == []
