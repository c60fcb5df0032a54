"""docs/agents.md names every tool and status, and none that does not exist."""

from __future__ import annotations

import re
from pathlib import Path

from proxyapi.mcp_server import PATH
from proxyapi.mcp_server.answers import MESSAGES, REFUSED
from proxyapi.mcp_server.server import CALLER, TOOLS

PAGE = (Path(__file__).parents[3] / "docs" / "agents.md").read_text(encoding="utf-8")


def first_column(heading: str) -> set[str]:
    part = PAGE[PAGE.index(heading) + 1 :].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_page_has_the_tools_and_the_statuses() -> None:
    assert first_column("\n## Tools") == {function.__name__ for function, _, _ in TOOLS}
    assert first_column("\n## One film") == {*MESSAGES, REFUSED}
    assert f"`{PATH}`" in PAGE
    assert CALLER not in PAGE
