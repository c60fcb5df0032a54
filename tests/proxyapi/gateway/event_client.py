"""A reader of GET /_events in this process, message by message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any

import httpx

from tests.proxyapi.gateway.conftest import Script


class Client:
    """The reader of one stream: its messages and comments, and whether it has ended."""

    def __init__(self, script: Script, **asked: Any) -> None:
        headers = {"authorization": f"Bearer {script.value}", **asked.pop("headers", {})}
        url = httpx.URL("http://reelroom/api/v2/_events", params=asked.pop("params", {}))
        self.script, self.status, self.text, self.has_ended = script, 0, "", False
        self.gone, self.start_headers = asyncio.Event(), dict[str, str]()
        scope = {
            "type": "http",
            "method": "GET",
            "path": url.path,
            "raw_path": url.raw_path,
            "query_string": url.query,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": (script.peer, 4711),
        }
        self.task = asyncio.create_task(script.app(scope, self.receive, self.send))

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.start_headers = {name.decode(): text.decode() for name, text in message["headers"]}
            return
        self.text += message["body"].decode()
        if not message.get("more_body"):
            self.has_ended = True
            self.gone.set()

    async def wait(self, condition: Callable[[], object]) -> None:
        while not condition():
            if self.task.done():
                self.task.result()
                assert condition(), self.text
                return
            await asyncio.sleep(0.01)

    async def close(self) -> None:
        self.gone.set()
        await self.task

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Each with the id of the message as `position`."""
        blocks = [dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
                  for block in self.text.split("\n\n")]  # fmt: skip
        found = [block for block in blocks if "data" in block]
        for block in found:
            assert json.loads(block["data"])["type"] == block["event"]
        return [{**json.loads(block["data"]), "position": int(block["id"])} for block in found]

    @property
    def types(self) -> list[str]:
        return [message["type"] for message in self.messages]


Story = Callable[[Client], Coroutine[Any, Any, None]]
FROM_THE_BEGINNING = {"headers": {"last-event-id": "0"}}


def watch(script: Script, story: Story, **asked: Any) -> Client:
    """A stream that is open while the story happens."""

    async def play() -> Client:
        client = Client(script, **asked)
        await client.wait(lambda: client.text)
        await story(client)
        await client.close()
        return client

    return script.loop.run(play())


def read(script: Script, count: int, **asked: Any) -> list[dict[str, Any]]:
    """The first messages of a stream; fails if more come."""

    async def until_there(client: Client) -> None:
        await client.wait(lambda: len(client.messages) >= count)

    messages = watch(script, until_there, **asked).messages
    assert len(messages) == count
    return messages
