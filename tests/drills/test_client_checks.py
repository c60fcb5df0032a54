"""Every fault scenario for the naive client: at the service, at the gateway, and an agent at the
MCP server."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from proxyapi.management.client_runs import ControlPlane, Target, run_scenario
from proxyapi.sandbox.client_checks import SCENARIOS, summarize
from tests.client_checks.conftest import AGENT, NAIVE, control, portal, sandbox, worker
from tests.drills.figures import Figures

__all__ = ["control", "portal", "sandbox", "worker"]
SLOW_S, TIME_LIMIT_S = 8.0, 240.0
TWICE = [
    *("answer_lost", "rate_limited", "server_error", "malformed_answer", "slow_answer"),
    "client_restarts",
]


def run_all(sandbox: str, command: str, target: Callable[[], Target]) -> list[dict[str, Any]]:
    plane = ControlPlane(sandbox, SLOW_S)
    return [run_scenario(plane, name, command, target(), TIME_LIMIT_S) for name in SCENARIOS]


def report(figures: Figures, verdicts: list[dict[str, Any]], twice: list[str]) -> None:
    paid = [it["scenario"] for it in verdicts if it["paid_more_than_once"]]
    figures.report(summarize(verdicts), f"twice in {twice or 'none'}", holds=paid == twice)
    found = [f"{it['scenario']}: {it['problems']}, {it['last_line']}" for it in verdicts]
    problems = [it["scenario"] for it in verdicts if it["problems"]]
    figures.report(
        f"problems in {problems}", f"{twice or 'none'}", holds=problems == twice, found=found
    )


def test_the_naive_client_at_the_service(sandbox: str) -> None:
    figures = Figures("naive client, service")
    report(figures, run_all(sandbox, NAIVE, Target), TWICE)
    figures.close()


def test_the_same_client_at_the_gateway(sandbox: str, portal: Callable[[], Target]) -> None:
    figures = Figures("naive client, gateway")
    report(figures, run_all(sandbox, NAIVE, portal), [])
    figures.close()


def test_an_agent_without_a_memory(sandbox: str, portal: Callable[[], Target]) -> None:
    figures = Figures("agent, MCP server")
    report(figures, run_all(sandbox, AGENT, portal), [])
    figures.close()
