"""Load over plain sockets: an upstream that gives one fixed answer, and a client that counts.

Run as a module it is the upstream: `python -m tests.bench.http_load PORT`.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
import sys
import time
from functools import partial

LENGTH_RE = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
MODELS = [{"id": number, "name": f"Model {number}", "seconds": [5, 10]} for number in range(12)]
BODY = json.dumps({"message": "OK", "status": 200, "data": MODELS}).encode()
REQUESTS_PER_MINUTE = 10_000  # the most that is believed; so each script has a token of its own
ANSWER = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    b"X-RateLimit-Limit: %(limit)d\r\nX-RateLimit-Remaining: %(limit)d\r\n"
    b"Content-Length: %(length)d\r\n\r\n%(body)b"
) % {b"limit": REQUESTS_PER_MINUTE, b"length": len(BODY), b"body": BODY}


class FixedAnswer(asyncio.Protocol):
    """Answers each request without a body with `ANSWER`."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport, self.received = transport, b""

    def data_received(self, data: bytes) -> None:
        *requests, self.received = (self.received + data).split(b"\r\n\r\n")
        self.transport.write(ANSWER * len(requests))  # type: ignore[attr-defined]


class Connection(asyncio.Protocol):
    """A connection that is kept, of a script that sends one request again and again."""

    def __init__(self, request: bytes) -> None:
        self.request = request

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    async def send(self) -> None:
        """Send and read the whole answer. Raises `AssertionError` unless it is a 200."""
        self.answer = b""
        self.ended = asyncio.get_running_loop().create_future()
        self.transport.write(self.request)  # type: ignore[attr-defined]
        await self.ended
        assert self.answer.startswith(b"HTTP/1.1 200 "), self.answer[:400]

    def data_received(self, data: bytes) -> None:
        self.answer += data
        head, end, body = self.answer.partition(b"\r\n\r\n")
        length = LENGTH_RE.search(head)
        if end and length and len(body) >= int(length[1]):
            self.ended.set_result(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self.ended.done():
            self.ended.set_exception(error or ConnectionResetError(self.answer[:400]))


async def connect(port: int, requests: list[bytes]) -> list[Connection]:
    loop = asyncio.get_running_loop()
    return [
        (await loop.create_connection(partial(Connection, request), "127.0.0.1", port))[1]
        for request in requests
    ]


async def measure_rate(port: int, requests: list[bytes], seconds: float) -> float:
    """Requests a second with a connection for each of `requests`, which sends it again when it has
    its answer."""
    opened = await connect(port, requests)
    started, answered = time.perf_counter(), itertools.count()
    until = started + seconds

    async def send_on(connection: Connection) -> None:
        while time.perf_counter() < until:
            await connection.send()
            next(answered)

    await asyncio.gather(*map(send_on, opened))
    elapsed = time.perf_counter() - started
    close(opened)
    return next(answered) / elapsed


async def measure_delays(
    port: int, requests: list[bytes], rate: int, seconds: float
) -> list[float]:
    """Milliseconds of each of `rate` requests a second, from when it was due: one that waited for a
    free connection has waited."""
    opened = await connect(port, requests)
    free: asyncio.Queue[Connection] = asyncio.Queue()
    for connection in opened:
        free.put_nowait(connection)
    started = time.perf_counter()

    async def send_at(due: float) -> float:
        await asyncio.sleep(due - time.perf_counter())
        connection = await free.get()
        await connection.send()
        free.put_nowait(connection)
        return 1000 * (time.perf_counter() - due)

    dues = (started + number / rate for number in range(round(rate * seconds)))
    delays = await asyncio.gather(*map(send_at, dues))
    close(opened)
    return list(delays)


def close(connections: list[Connection]) -> None:
    for connection in connections:
        connection.transport.close()


async def serve(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(FixedAnswer, "127.0.0.1", port)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1])))
