"""docs/clients/ has a page for each client, with the lines that the page of agents gives."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser

from dashboard.agents.forms import DEFAULT_CREDITS, DEFAULT_DAYS
from dashboard.agents.redirects import is_allowed_target
from dashboard.api_keys.agent_tokens import agent_resource
from dashboard.models import Membership
from tests.dashboard.agents.test_page import ClientOf

DOCS = Path(__file__).parents[3] / "docs"
FILES = sorted((DOCS / "clients").glob("*.md"))
PAGES = {file.stem: file.read_text(encoding="utf-8") for file in FILES}
BLOCK = re.compile(r"^```(\w*)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_what_holds(name: str) -> None:
    text = PAGES[name]
    for kind, block in BLOCK.findall(text):
        assert agent_resource() in block
        if kind == "json":
            json.loads(block)
        elif kind == "toml":
            tomllib.loads(block)
    assert f"{DEFAULT_CREDITS} credits and {DEFAULT_DAYS} days" in text
    assert "Not tried with this client itself" in text
    for target in re.findall(r"(?:\]\(|src(?:set)?=\")([^)#\"]+)", text):
        assert (DOCS / "clients" / target).is_file(), target


@pytest.mark.parametrize(
    "uri",
    [
        "http://localhost:3118/callback",  # Claude Code
        "https://claude.ai/api/mcp/auth_callback",
        "cursor://anysphere.cursor-mcp/oauth/callback",
        "https://vscode.dev/redirect",
        "http://127.0.0.1:33418/",
        "https://chatgpt.com/connector_platform_oauth_redirect",
    ],
)
def test_where_the_answers_of_these_clients_go_is_allowed(uri: str) -> None:
    assert is_allowed_target(uri)


def test_the_page_of_agents_gives_the_lines_of_each_document(
    priya: Membership, client_of: ClientOf
) -> None:
    page = LexborHTMLParser(client_of(priya).get("/agents/").text)
    client = 'details[name="client"]'
    names = [node.text(strip=True) for node in page.css(f"{client} summary")]
    shown = [node.text() for node in page.css(f"{client} pre")]
    documents = {text.partition("\n")[0].removeprefix("# "): text for text in PAGES.values()}
    first = {name: BLOCK.findall(text)[0][1] for name, text in documents.items()}
    assert dict(zip(names, shown, strict=True)) == first
    assert [node.attributes["data-copy"] for node in page.css(f"{client} button")] == shown
    index = (DOCS / "agents.md").read_text(encoding="utf-8")
    assert all(f"(clients/{name}.md)" in index for name in PAGES)
