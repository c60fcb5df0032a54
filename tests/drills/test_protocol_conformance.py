"""The conformance suite of the protocol against `/mcp`, in each generation that it knows.

It is an npm package (Node 22), which `npx` brings. Its cases call tools, prompts and resources of
a test server by name; what the portal does not have stands in `NOT_SERVED`, everything else holds.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.drills.figures import Figures
from tests.proxyapi.mcp_server import conftest
from tests.proxyapi.mcp_server.conftest import Agent

sandbox, token, worker = conftest.sandbox, conftest.token, conftest.worker
make_agent, agent = conftest.make_agent, conftest.agent
SUITE = ("npx", "--yes", "-p", "node@22", "-p", "@modelcontextprotocol/conformance@0.2.0-alpha.12")
GENERATIONS = ("2025-06-18", "2025-11-25", "2026-07-28")
SUITE_TIMEOUT_S = 300
# Beginnings of the ids of its checks, by what the portal does not have.
NOT_SERVED = {
    "prompts": ("prompts-", "sep-2549-prompts-"),
    "completions": ("completion-",),
    "resources to read and to subscribe to": (
        *("resources-read-", "resources-templates-", "resources-subscribe"),
        "resources-unsubscribe",
    ),
    "requests to the client: sampling, elicitation, roots, “input required”": (
        *("tools-call-sampling", "tools-call-elicitation", "elicitation-", "sep-2322-"),
        *("sep-2575-server-rejects-undeclared", "sep-2575-missing-capability-http"),
    ),
    "logging and progress: an answer is one JSON document": (
        *("logging-", "tools-call-with-logging", "tools-call-with-progress"),
    ),
    "sessions and event streams": ("server-sse-",),
    "tools of the test server: pictures, sound, resources, a schema, headers": (
        *("tools-call-image", "tools-call-audio", "tools-call-embedded", "tools-call-mixed"),
        *("json-schema-2020-12", "sep-2243-server-"),
    ),
}


def with_key(agent: Agent) -> Any:
    """The application for a client that sends no key."""
    value = (b"authorization", f"Bearer {agent.value}".encode())

    async def app(scope: dict[str, Any], receive: Any, send: Any) -> None:
        await agent.app({**scope, "headers": [*scope["headers"], value]}, receive, send)

    return app


async def run_suite(agent: Agent, port: int, folder: Path) -> None:
    """Write what each scenario found into the folder."""
    config = uvicorn.Config(with_key(agent), port=port, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    try:
        for generation in GENERATIONS:
            command = [*SUITE, "conformance", "server", "--url", f"http://localhost:{port}/mcp"]
            command += ["--suite", "all", "--spec-version", generation]
            command += ["--output-dir", str(folder / generation)]
            with (folder / f"{generation}.log").open("wb") as log:
                process = await asyncio.create_subprocess_exec(*command, stdout=log, stderr=log)
                async with asyncio.timeout(SUITE_TIMEOUT_S):
                    await process.wait()
    finally:
        server.should_exit = True
        await serving


def read_checks(folder: Path) -> Iterator[dict[str, Any]]:
    for file in sorted(folder.glob("*/checks.json")):
        yield from json.loads(file.read_text())


def is_served(check_id: str) -> bool:
    return not any(check_id.startswith(beginnings) for beginnings in NOT_SERVED.values())


@pytest.mark.skipif(shutil.which("npx") is None, reason="The suite is an npm package.")
def test_the_conformance_suite_of_the_protocol(agent: Agent, settings: Any, tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings.PORTAL_URL = f"http://localhost:{port}"
    agent.loop.run(run_suite(agent, port, tmp_path))
    figures = Figures("conformance of the protocol")
    for generation in GENERATIONS:
        checks = list(read_checks(tmp_path / generation))
        failed = [
            f"{check['id']}: {check.get('errorMessage')}"
            for check in checks
            if check["status"] in ("FAILURE", "WARNING") and is_served(check["id"])
        ]
        passed = sum(check["status"] == "SUCCESS" for check in checks)
        figures.report(
            f"{generation}: {passed} checks pass, {len(failed)} of what is served fail",
            "at least 30, and 0",
            holds=passed >= 30 and not failed,
            found=failed,
        )
    figures.close()
