"""docs/agents.md names every tool and status, and none that does not exist; so does the skill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from proxyapi.mcp_server import PATH
from proxyapi.mcp_server.answers import MESSAGES, REFUSED, ToolAnswer
from proxyapi.mcp_server.server import CALLER, TOOLS, build_server

DOCS = Path(__file__).parents[3] / "docs"
SKILL_FILE = DOCS / "skills" / "reelroom" / "SKILL.md"
PAGE, SKILL = ((DOCS / "agents.md").read_text(encoding="utf-8"), SKILL_FILE.read_text("utf-8"))


def first_column(heading: str) -> set[str]:
    part = PAGE[PAGE.index(heading) + 1 :].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in part.splitlines() if line.startswith("| `")]
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def test_the_page_has_the_tools_and_the_statuses() -> None:
    assert first_column("\n## Tools") == {function.__name__ for function, _, _ in TOOLS}
    assert first_column("\n## One film") == {*MESSAGES, REFUSED}
    assert f"`{PATH}`" in PAGE
    assert CALLER not in PAGE


def test_the_skill_names_tools_and_statuses_that_exist() -> None:
    head, _, body = SKILL.removeprefix("---\n").partition("\n---\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines())
    assert fields["name"] == SKILL_FILE.parent.name == build_server().name
    assert len(fields["description"]) <= 1024
    known = {function.__name__ for function, _, _ in TOOLS} | {*MESSAGES, REFUSED}
    known |= set(ToolAnswer.__annotations__) | {"quote_id", "price", "charge_id", "service_said"}
    arguments = {name for function, _, _ in TOOLS for name in function.__annotations__}
    assert set(re.findall(r"`(\w+)`", body)) <= known | arguments | {"reelroom"}
    assert {"quote", "make", "wait", "request_approval"} <= set(re.findall(r"`(\w+)`", body))
    assert len(body) < 4 * 5000  # tokens of four characters


@pytest.mark.parametrize("text", [PAGE, SKILL], ids=["page", "skill"])
def test_links_lead_to_files(text: str) -> None:
    folder = DOCS if text is PAGE else SKILL_FILE.parent
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", text):
        assert (folder / target).is_file(), target
