"""The Tasks extension: `wait` answers a client that has it with a handle, which is polled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal
from uuid import uuid4

import pytest
from mcp import ClientSession
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim, advertise
from mcp.shared.exceptions import MCPError
from mcp.types import CallToolResult, Request, RequestParams, Result

from proxyapi.gateway.threads import in_thread
from proxyapi.mcp_server import tasks
from proxyapi.models import Charge, GatewayRequest
from tests.proxyapi.mcp_server.conftest import FILM, Agent, finish_render
from tests.sandbox.conftest import SandboxClient

IDENTIFIER = "io.modelcontextprotocol/tasks"


class TaskParams(RequestParams):
    task_id: str


class Task(Result):
    task_id: str
    status: str
    status_message: str = ""
    created_at: str
    last_updated_at: str
    ttl_ms: int | None
    poll_interval_ms: int
    result: dict[str, Any] | None = None


class TaskHandle(Task):
    result_type: Literal["task"] = "task"


class Polling(ClientExtension):
    """The client's side of the extension; `while_working` runs after each poll that found the task
    working."""

    identifier = IDENTIFIER

    def __init__(self, while_working: Callable[[], None]) -> None:
        self.while_working, self.seen = while_working, list[Task]()

    def claims(self) -> list[ResultClaim[TaskHandle]]:
        return [ResultClaim(result_type="task", model=TaskHandle, resolve=self.poll)]

    async def poll(self, handle: TaskHandle, ctx: ClaimContext) -> CallToolResult:
        self.seen.append(handle)
        while (task := await send(ctx.session, "get", handle.task_id)).status == "working":
            self.seen.append(task)
            await in_thread(self.while_working)
        self.seen.append(task)
        return CallToolResult.model_validate(task.result)


async def send(session: ClientSession, method: str, task_id: str) -> Task:
    params = TaskParams(task_id=task_id)
    model = Task if method == "get" else Result
    request = Request[TaskParams, str](method=f"tasks/{method}", params=params)
    answer: Any = await session.send_request(request, model)
    return answer


def order(agent: Agent) -> dict[str, Any]:
    return agent.pay(agent.call("quote", **FILM)["quote"])


def test_a_wait_is_a_task_whose_result_is_that_of_the_tool(
    agent: Agent, sandbox: SandboxClient
) -> None:
    made = order(agent)
    job_id = made["job"]["job_id"]
    polling = Polling(lambda: finish_render(sandbox, job_id))
    agent.extensions = (polling,)
    result = agent.result("wait", id=job_id, seconds=50)
    agent.extensions = ()
    plain = agent.result("wait", id=job_id, seconds=0)
    assert result.structured_content == plain.structured_content
    assert [part.type for part in result.content] == ["text", "resource_link"]
    handle, *polled = polling.seen
    assert handle.status_message == "It is being made. Call wait again."
    assert [task.status for task in polled] == ["working", "completed"]
    for task in polled:
        same = (task.task_id, task.created_at, task.ttl_ms, task.poll_interval_ms)
        assert same == (handle.task_id, handle.created_at, None, 5000)
    logged = GatewayRequest.objects.filter(operation="mcp.wait")
    assert logged.count() == 4  # the call, two polls, and the plain one
    assert Charge.objects.count() == 1


def test_what_has_ended_is_no_task(agent: Agent, sandbox: SandboxClient) -> None:
    made = order(agent)
    finish_render(sandbox, made["job"]["job_id"])
    agent.extensions = (Polling(lambda: None),)
    answer = agent.call("wait", id=made["charge"]["charge_id"])
    assert answer["status"] == "completed"
    assert agent.extensions[0].seen == []


def test_a_client_without_the_extension_waits_as_before(agent: Agent) -> None:
    made = order(agent)
    assert agent.call("wait", id=made["job"]["job_id"], seconds=0)["status"] == "rendering"


def refusal_of(agent: Agent, method: str, task_id: str) -> MCPError:
    async def ask() -> MCPError:
        async with agent.connect() as client:
            with pytest.raises(MCPError) as refused:
                await send(client.session, method, task_id)
        return refused.value

    return agent.loop.run(ask())


@pytest.mark.parametrize("method", ["get", "update", "cancel"])
def test_a_task_is_for_a_client_that_declared_the_extension(agent: Agent, method: str) -> None:
    made = order(agent)
    task_id = f"{made['job']['job_id'].replace('-', '')}.1790000000"
    assert refusal_of(agent, method, task_id).error.code == -32021
    agent.extensions = (advertise(IDENTIFIER),)
    assert refusal_of(agent, method, "task-1").error.code == -32602


def test_a_task_of_another_agent_does_not_exist(make_agent: Callable[..., Agent]) -> None:
    made = order(make_agent())
    other = make_agent()
    other.extensions = (advertise(IDENTIFIER),)
    for id in (made["charge"]["charge_id"], str(uuid4())):
        refused = refusal_of(other, "get", f"{id.replace('-', '')}.1790000000")
        assert (refused.error.code, refused.error.message) == (-32602, tasks.NO_TASK)


def test_cancelling_a_task_stops_nothing(agent: Agent, sandbox: SandboxClient) -> None:
    made = order(agent)
    job_id = made["job"]["job_id"]
    task_id = f"{job_id.replace('-', '')}.1790000000"
    agent.extensions = (advertise(IDENTIFIER),)

    async def cancel() -> Task:
        async with agent.connect() as client:
            await send(client.session, "cancel", task_id)
            return await send(client.session, "get", task_id)

    assert agent.loop.run(cancel()).status == "working"
    finish_render(sandbox, job_id)

    async def read() -> Task:
        async with agent.connect() as client:
            return await send(client.session, "get", task_id)

    task = agent.loop.run(read())
    assert (task.status, task.created_at) == ("completed", "2026-09-21T14:13:20+00:00")
