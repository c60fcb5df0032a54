"""The Tasks extension of MCP (`io.modelcontextprotocol/tasks`): a client that has it gets a handle
from `wait`, and polls it, so that no request is held open for the length of a render.

A task is what is waited for: its id is that of the charge, approval or job, with the time at which
the waiting began. Nothing is stored, any process answers, and a restart loses nothing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import require_client_extension
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS, CallToolRequestParams, CallToolResult, RequestParams

from proxyapi.mcp_server.answers import REFUSED, WAITING

WAIT_TOOL, POLL_EVERY_MS = "wait", 5000
VERSIONS = frozenset({"2026-07-28"})
TASK_ID_RE = re.compile(r"([0-9a-f]{32})\.([0-9]{1,10})")
NO_TASK = "There is no such task."
RequestContext = ServerRequestContext[Any, Any]
ReadOutcome = Callable[[RequestContext, UUID], Awaitable[CallToolResult]]


class TaskParams(RequestParams):
    task_id: str


class WaitTasks(Extension):
    """`read` answers as `wait` does that waits for 0 s."""

    identifier = "io.modelcontextprotocol/tasks"

    def __init__(self, read: ReadOutcome) -> None:
        self.read = read

    def methods(self) -> Sequence[MethodBinding]:
        handlers = {"get": self.get, "update": self.acknowledge, "cancel": self.acknowledge}
        return [
            MethodBinding(f"tasks/{name}", TaskParams, handler, VERSIONS)
            for name, handler in handlers.items()
        ]

    async def intercept_tool_call(
        self, params: CallToolRequestParams, ctx: RequestContext, call_next: CallNext
    ) -> HandlerResult:
        capabilities = ctx.session.client_capabilities
        declared = (capabilities.extensions if capabilities else None) or {}
        if params.name != WAIT_TOOL or self.identifier not in declared:
            return await call_next(ctx)
        params.arguments = {**(params.arguments or {}), "seconds": 0}
        result = await call_next(ctx)
        if not isinstance(result, CallToolResult) or not is_waiting(result):
            return result
        began_at = int(datetime.now(UTC).timestamp())
        task_id = f"{UUID(str(params.arguments['id'])).hex}.{began_at}"
        return {"resultType": "task", **describe(task_id, began_at, result)}

    async def get(self, ctx: RequestContext, params: TaskParams) -> HandlerResult:
        require_client_extension(ctx, self.identifier)
        id, began_at = read_task_id(params.task_id)
        result = await self.read(ctx, id)
        facts = result.structured_content or {}
        if facts.get("status") == REFUSED and facts["error"]["code"] == "GEN-NOT-FOUND":
            raise MCPError(INVALID_PARAMS, NO_TASK)
        return describe(params.task_id, began_at, result)

    async def acknowledge(self, ctx: RequestContext, params: TaskParams) -> HandlerResult:
        """A task asks for no input, and a render cannot be stopped: that the client no longer waits
        changes nothing."""
        require_client_extension(ctx, self.identifier)
        read_task_id(params.task_id)
        return {}


def read_task_id(task_id: str) -> tuple[UUID, int]:
    """What is waited for, and when that began (seconds since 1970). Raises `MCPError`."""
    match = TASK_ID_RE.fullmatch(task_id)
    if match is None:
        raise MCPError(INVALID_PARAMS, NO_TASK)
    return UUID(match[1]), int(match[2])


def is_waiting(result: CallToolResult) -> bool:
    return (result.structured_content or {}).get("status") in WAITING


def describe(task_id: str, began_at: int, result: CallToolResult) -> dict[str, Any]:
    """The task as the extension shows it; a refusal of the tool is a result, too."""
    times = {"createdAt": datetime.fromtimestamp(began_at, UTC), "lastUpdatedAt": datetime.now(UTC)}
    task: dict[str, Any] = {name: time.isoformat() for name, time in times.items()}
    task |= {"taskId": task_id, "ttlMs": None, "pollIntervalMs": POLL_EVERY_MS}
    if is_waiting(result):
        facts = result.structured_content or {}
        said = (facts.get("message", ""), facts.get("approval_url", ""))
        return {**task, "status": "working", "statusMessage": " ".join(filter(None, said))}
    whole = result.model_dump(by_alias=True, mode="json", exclude_none=True)
    return {**task, "status": "completed", "result": whole}
