"""`make bench`: 1,000 idle event streams of scripts on one web process, as uvicorn serves them.

How much memory and processor they take, and how soon an event is with all of them. With an argument
it is the seed: `key` prints the keys of a new team, `event` writes and publishes an event of it.
"""

from __future__ import annotations

import itertools
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from uuid import uuid4

import psutil

from dashboard.up import valkey
from tests.bench.streams import close_pages, cpu_seconds, serve_seeded, web_environment

STREAMS, KEYS, WARM_STREAMS, IDLE_S, TIMEOUT_S = 1000, 20, 20, 20.0, 120.0
MAX_STREAM_KB, MAX_DELAY_MS, MAX_THREADS = 60.0, 2000.0, 64
SEED = "tests.bench.event_streams"
REQUEST = (
    "GET /api/v2/_events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
    "Accept: text/event-stream\r\nUser-Agent: python-httpx/0.28.1\r\n\r\n"
)


def main(folder: Path) -> bool:
    """Print the figures; whether they are as wanted."""
    folder /= "event-streams"
    environ = web_environment(folder, folder / valkey.SOCKET_NAME)
    with serve_seeded(folder, environ, SEED, "key") as (process, port, _, seed):
        close_pages(open_streams(port, seed["keys"], WARM_STREAMS))  # what is loaded once
        time.sleep(IDLE_S / 2)
        before = process.memory_full_info().uss
        streams = open_streams(port, seed["keys"], STREAMS)
        busy = cpu_seconds(process)
        time.sleep(IDLE_S)
        busy_percent = 100 * (cpu_seconds(process) - busy) / IDLE_S
        stream_kb = (process.memory_full_info().uss - before) / 1000 / STREAMS
        command = [sys.executable, "-m", SEED, "event"]
        published = subprocess.run(command, env=environ, stdout=subprocess.PIPE, check=True)
        for stream in streams:
            read_until(stream, b"video.completed")
        delay_ms = 1000 * (time.time() - json.loads(published.stdout))
        return print_figures(process, stream_kb, busy_percent, delay_ms)


def print_figures(
    process: psutil.Process, stream_kb: float, busy_percent: float, delay_ms: float
) -> bool:
    threads = process.num_threads()
    holds = stream_kb <= MAX_STREAM_KB and delay_ms <= MAX_DELAY_MS and threads <= MAX_THREADS
    print(
        f"{STREAMS:,} idle event streams of scripts: memory of a stream {stream_kb:.0f} kB, "
        f"processor {busy_percent:.1f} %, {threads} threads; an event is with all of them after "
        f"{delay_ms:.0f} ms; wanted: at most {MAX_STREAM_KB:.0f} kB, {MAX_THREADS} threads, "
        f"{MAX_DELAY_MS:.0f} ms: {'ok' if holds else 'FALLS SHORT'}\n"
    )
    return holds


def open_streams(port: int, keys: list[str], count: int) -> list[socket.socket]:
    streams = [socket.create_connection(("127.0.0.1", port), TIMEOUT_S) for _ in range(count)]
    for stream, key in zip(streams, itertools.cycle(keys), strict=False):
        stream.sendall(REQUEST.format(key=key).encode())
    for stream in streams:
        read_until(stream, b"retry:")
    return streams


def read_until(stream: socket.socket, words: bytes) -> None:
    answer = b""
    while words not in answer:
        received = stream.recv(65536)
        assert received, answer
        answer += received


def seed(what: str) -> object:
    import django

    django.setup()
    from django.core.management import call_command

    from proxyapi.events import EventType, publish_event
    from proxyapi.gateway.keys import create_key
    from proxyapi.models import ApiEvent, ApiEventType, ApiKey, KeyScope
    from tests.factories import MembershipFactory

    if what == "key":
        call_command("migrate", verbosity=0)
        owner = MembershipFactory()
        of_owner = (owner.team.tenant, owner.user_id, "x", [KeyScope.READ])
        return {"keys": [create_key(*of_owner).value for _ in range(KEYS)]}
    tenant_id = ApiKey.objects.values_list("tenant", flat=True)[0]
    event_type = ApiEventType.VIDEO_COMPLETED
    ApiEvent.objects.record(event_type, uuid4(), {"url": "/"}, tenant_id=tenant_id)
    publish_event(tenant_id, EventType.JOB, uuid4())
    return time.time()


if __name__ == "__main__":
    print(json.dumps(seed(sys.argv[1])))
