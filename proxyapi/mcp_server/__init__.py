"""The MCP server at `/mcp`: agents make videos with quotes, within what a person allowed them.

It is a second entrance to the gateway: the same keys, turns, quotes, charges and request log.
"""

from __future__ import annotations

PATH = "/mcp"  # on the portal
