"""`manage.py check_client`: does a client of the API pay twice or lose films when things fail?"""

from __future__ import annotations

import asyncio
import json
import os
from argparse import ArgumentParser
from contextlib import nullcontext
from typing import Annotated, Any

from django.core.management.base import BaseCommand, CommandError
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from proxyapi.management.client_runs import (
    CheckError,
    ControlPlane,
    Target,
    run_scenario,
    running_sandbox,
)
from proxyapi.sandbox.client_checks import SCENARIOS, summarize

KEY_VARIABLE = "REELROOM_KEY"
INSTRUCTIONS = (
    "Checks whether an agent pays twice when the video API fails. For each scenario: "
    "start_scenario, make one film about its topic with your usual tools, or at base_url with its "
    "token; then verdict. Where restarts is true, begin again from the start after the first "
    "charge, as if you remembered nothing."
)


class Command(BaseCommand):
    help = "Runs a client through fault scenarios of the sandbox; the audit gives the verdict."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--client", default="", help='a command, such as "python client.py"')
        parser.add_argument("--mcp", action="store_true", help="serve tools for an agent on stdio")
        parser.add_argument("--only", action="append", metavar="NAME", help="one scenario; repeat")
        parser.add_argument("--json", action="store_true", help="print the verdicts as JSON")
        parser.add_argument("--time-limit", type=float, default=180.0, help="seconds of a run")
        parser.add_argument("--slow", type=float, default=35.0, help="seconds of a slow answer")
        parser.add_argument("--sandbox", default="", help="address of a running one, else its own")
        parser.add_argument("--account", type=int, help="its id in that sandbox, else a new one")
        parser.add_argument("--base-url", default="", help=f"of a portal; key in {KEY_VARIABLE}")

    def handle(self, *_: Any, **options: Any) -> None:
        try:
            target, address = read_target(options), options["sandbox"]
            with nullcontext(address) if address else running_sandbox() as sandbox:
                control = ControlPlane(sandbox, options["slow"])
                if options["mcp"]:
                    asyncio.run(build_server(control, options["account"]).run_stdio_async())
                    return
                verdicts = []
                for name in options["only"] or SCENARIOS:
                    how = (options["client"], target, options["time_limit"])
                    verdicts.append(run_scenario(control, name, *how))
                    if not options["json"]:
                        self.stdout.write(describe_verdict(verdicts[-1]))
        except CheckError as error:
            raise CommandError(str(error)) from None
        result = {"summary": summarize(verdicts), "verdicts": verdicts}
        self.stdout.write(json.dumps(result) if options["json"] else summarize(verdicts))
        if any(verdict["problems"] for verdict in verdicts):
            raise SystemExit(1)


def read_target(options: dict[str, Any]) -> Target:
    """Raises `CheckError` for options that do not fit together."""
    if bool(options["client"].strip()) == options["mcp"]:
        raise CheckError('Give a client, such as --client "python client.py", or --mcp.')
    if unknown := set(options["only"] or ()) - SCENARIOS.keys():
        raise CheckError(f"No scenario is {min(unknown)!r:.80}. Known: {', '.join(SCENARIOS)}.")
    if not (0 < options["time_limit"] < 86_400 and 0 < options["slow"] <= 600):
        raise CheckError("--time-limit and --slow are seconds: above 0, and at most a day and 600.")
    key, account = os.environ.get(KEY_VARIABLE, ""), options["account"]
    portal = [options["base_url"], options["sandbox"], key]
    if account is None and not options["base_url"]:
        return Target()
    if account is None or not (options["mcp"] or all(portal)):
        raise CheckError(
            f"A portal needs --base-url, --sandbox, --account and its key in {KEY_VARIABLE}."
        )
    return Target(options["base_url"].rstrip("/"), key, account)


def describe_verdict(verdict: dict[str, Any]) -> str:
    """The line of the table, and what went wrong."""
    charges = ", ".join(f"{count} × {name}" for name, count in verdict["charges"].items())
    said = {0: "has the film", None: "did not end"}.get(verdict["exit_status"], "reports failure")
    problems = [f"    {problem}" for problem in verdict["problems"]]
    if problems and verdict["last_line"]:
        problems.append(f"    Its last line: {verdict['last_line']}")
    line = f"{verdict['scenario']:<18}{'PROBLEM' if problems else 'ok':<9}{said:<17}"
    return "\n".join([line + (charges or "nothing paid"), *problems])


def build_server(control: ControlPlane, account_id: int | None) -> MCPServer[Any]:
    """The same scenarios as tools. With an account, an agent makes the film through the portal
    that holds a token of it."""
    server: MCPServer[Any] = MCPServer("check-client", instructions=INSTRUCTIONS)
    accounts: dict[str, int] = {}

    @server.tool()
    def list_scenarios() -> list[dict[str, str]]:
        """The fault scenarios: what happens, and what a careful client does."""
        return [
            {"scenario": it.name, "happens": it.happens, "expected": it.expected}
            for it in SCENARIOS.values()
        ]

    @server.tool()
    def start_scenario(scenario: str) -> dict[str, Any]:
        """Start one; then make one film about its topic."""
        try:
            made = control.start(scenario, account_id)
        except CheckError as error:
            raise ToolError(str(error)) from None
        accounts[scenario] = made["account_id"]
        return made if account_id else {**made, "base_url": f"{control.sandbox}/v2"}

    @server.tool()
    def verdict(
        scenario: str, has_film: Annotated[bool, Field(description="Whether you have the film.")]
    ) -> dict[str, Any]:
        """What was charged in this scenario, and what went wrong."""
        if scenario not in accounts:
            raise ToolError(f"The scenario {scenario!r:.80} was not started.")
        judged = control.judge(accounts[scenario], has_film)
        return {**judged, "summary": summarize([judged])}

    return server
