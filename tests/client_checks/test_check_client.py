"""The command: what it refuses, how a client that fails is told, and the tools for an agent."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from mcp import Client

from proxyapi.management.client_runs import ControlPlane
from proxyapi.management.commands.check_client import KEY_VARIABLE, build_server
from proxyapi.sandbox.client_checks import SCENARIOS

Printed = pytest.CaptureFixture[str]


def python(source: str) -> str:
    return shlex.join([sys.executable, "-c", source])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ([], "Give a client"),
        (["--client=x", "--mcp"], "Give a client"),
        (["--client=x", "--only=paradise"], "No scenario is 'paradise'. Known: answer_lost"),
        (["--client=x", "--time-limit=0"], "--time-limit and --slow are seconds"),
        (["--client=x", "--slow=nan"], "--time-limit and --slow are seconds"),
        (["--client=x", "--base-url=http://localhost:1/api/v2"], f"its key in {KEY_VARIABLE}"),
        (["--client=x", "--account=7", "--sandbox=http://localhost:1"], "A portal needs"),
        (["--client=x", "--sandbox=http://127.0.0.1:1"], "does not answer as a sandbox"),
        (["--client=x", "--sandbox=paradise"], "does not answer as a sandbox"),
    ],
)
def test_wrong_options_end_in_a_sentence(
    options: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    with pytest.raises(CommandError) as refused:
        call_command("check_client", *options)
    assert sentence in str(refused.value)


@pytest.mark.parametrize("client", ["no-such-program", "/etc", "python 'client.py"])
def test_a_client_that_does_not_start_is_told(sandbox: str, client: str) -> None:
    with pytest.raises(CommandError, match=r"The client .* cannot be started: "):
        call_command("check_client", "--client", client, "--sandbox", sandbox)


def test_a_client_that_hangs_is_ended(sandbox: str, capsys: Printed) -> None:
    options = ["--client", python("import time; print('waits', flush=True); time.sleep(600)")]
    options += ["--sandbox", sandbox, "--only", "closed_before", "--time-limit", "1"]
    with pytest.raises(SystemExit):
        call_command("check_client", *options)
    said = capsys.readouterr().out
    assert "It did not end within 1 seconds." in said
    assert "Its last line: waits" in said
    assert said.endswith("paid twice in 0 of 1 scenario. 1 of them had another problem.\n")


def test_a_broken_client_is_told_over_a_sandbox_of_its_own(capsys: Printed) -> None:
    options = ["--client", python("raise SystemExit('no luck')"), "--only", "answer_lost"]
    with pytest.raises(SystemExit):
        call_command("check_client", *options)
    said = capsys.readouterr().out
    assert said.startswith("answer_lost       PROBLEM  reports failure  nothing paid\n")
    assert "    No request arrived.\n    Its last line: no luck\n" in said


def test_the_page_shows_the_naive_client() -> None:
    folder = Path(__file__).parent
    _, program = (folder / "naive_client.py").read_text().split("annotations\n\n")
    assert f"```python\n{program}```" in (folder.parents[1] / "docs/client-checks.md").read_text()


def test_an_agent_starts_scenarios_and_asks_for_the_verdict(sandbox: str) -> None:
    async def work() -> list[Any]:
        async with Client(build_server(ControlPlane(sandbox, 1), None)) as agent:
            listed = await agent.call_tool("list_scenarios", {})
            early = await agent.call_tool("verdict", {"scenario": "server_error", "has_film": True})
            unknown = await agent.call_tool("start_scenario", {"scenario": "paradise"})
            made = await agent.call_tool("start_scenario", {"scenario": "server_error"})
            said = {"scenario": "server_error", "has_film": False}
            return [listed, early, unknown, made, await agent.call_tool("verdict", said)]

    listed, early, unknown, made, verdict = asyncio.run(work())
    assert [it["scenario"] for it in listed.structured_content["result"]] == [*SCENARIOS]
    assert (early.is_error, unknown.is_error) == (True, True)
    assert "Known: answer_lost" in unknown.content[0].text
    assert made.structured_content["base_url"] == f"{sandbox}/v2"
    assert made.structured_content["token"]
    assert verdict.structured_content["problems"] == ["No request arrived."]
