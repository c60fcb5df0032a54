"""The sandbox over a socket: the command line's options, and uvicorn on loopback."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path
from typing import get_args

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from proxyapi.sandbox import clock
from proxyapi.sandbox.app import create_app
from proxyapi.sandbox.dialect import Dialect, with_dialect_settings

HOST = "127.0.0.1"


class SocketProtocol(H11Protocol):
    """uvicorn's protocol, that lets faults of the connection reach the connection."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.app_state = {**self.app_state, "transport": transport}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", default=HOST, help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=8001, help="port to listen on (8001)")
    parser.add_argument("--public-url", help="base of media URLs, as clients reach it")
    parser.add_argument("--db", default="var/sandbox.sqlite3", help="a file, or :memory:")
    parser.add_argument("--media-dir", default="var/sandbox-media", help="folder for videos")
    parser.add_argument("--seed", type=int, help="the same seed and calls give the same bodies")
    parser.add_argument(
        "--clock", help="real, frozen or xN such as x10 (default: as saved, or real)"
    )
    parser.add_argument(
        "--dialect",
        choices=get_args(Dialect),
        help="shapes that the specification does not show (default: as saved, or spec)",
    )


def serve(
    *,
    port: int,
    db: str,
    media_dir: str,
    seed: int | None = None,
    clock_mode: str | None = None,
    host: str = HOST,
    public_url: str | None = None,
    dialect: Dialect | None = None,
) -> None:
    """Serve until SIGINT or SIGTERM. Raises ValueError for a clock that does not exist."""
    mode, scale = clock.parse_clock_mode(clock_mode) if clock_mode is not None else (None, 1.0)
    app = create_app(
        media_dir=Path(media_dir),
        db=None if db == ":memory:" else Path(db),
        seed=seed,
        clock=clock.SandboxClock(mode, scale=scale),
        public_url=public_url or f"http://{host}:{port}",
    )
    if dialect is not None:
        world, change = app.state.world, with_dialect_settings({"dialect": dialect})
        world.store_settings(world.settings.model_copy(update=change))
        world.commit()
    uvicorn.run(
        app,
        host=host,
        port=port,
        http=SocketProtocol,
        ws="none",
        proxy_headers=False,
        server_header=False,
        access_log=False,
        # Longer than clients keep a connection: one closed under a request loses its answer.
        timeout_keep_alive=75,
        log_level="warning",
        timeout_graceful_shutdown=3,
    )


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m proxyapi.sandbox", description=__doc__)
    add_options(parser)
    chosen = parser.parse_args(arguments)
    try:
        serve(
            port=chosen.port,
            db=chosen.db,
            media_dir=chosen.media_dir,
            seed=chosen.seed,
            clock_mode=chosen.clock,
            host=chosen.host,
            public_url=chosen.public_url,
            dialect=chosen.dialect,
        )
    except ValueError as error:
        sys.exit(str(error))
