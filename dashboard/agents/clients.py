"""What people enter in each client, as the page of agents and docs/clients/ show it."""

from __future__ import annotations

CURSOR = '{{"mcpServers": {{"reelroom": {{"url": "{url}"}}}}}}'
CODE = '{{"servers": {{"reelroom": {{"type": "http", "url": "{url}"}}}}}}'
# Name, where, and the lines with the address for `url`.
CLIENTS = (
    (
        *("Claude Code", "In a terminal. Then /mcp signs in."),
        "claude mcp add --transport http reelroom {url}",
    ),
    ("Claude and Claude Desktop", "Settings, Connectors, Add custom connector.", "{url}"),
    ("Cursor", "In ~/.cursor/mcp.json, then Connect in its settings.", CURSOR),
    ("VS Code with Copilot", "In .vscode/mcp.json, then Start above it.", CODE),
    (
        *("Codex CLI", "In a terminal."),
        "codex mcp add reelroom --url {url}\ncodex mcp login reelroom",
    ),
    ("ChatGPT", "Settings, Connectors, Advanced, Developer mode; then Create.", "{url}"),
    (
        *("Gemini CLI", "In a terminal. Then /mcp auth reelroom signs in."),
        "gemini mcp add --transport http reelroom {url}",
    ),
)


def client_lines(url: str) -> list[dict[str, str]]:
    return [
        {"name": name, "where": where, "lines": lines.format(url=url)}
        for name, where, lines in CLIENTS
    ]
