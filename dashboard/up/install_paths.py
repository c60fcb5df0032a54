"""Where this installation lives: its folder, ports, secrets, and its programs' environment."""

from __future__ import annotations

import base64
import fcntl
import os
import secrets
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from dashboard import private_file
from dashboard.up import reaper
from dashboard.up.install import ROOT, SetupError

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Installation:
    var: Path
    port: int
    sandbox_port: int
    upstream: str | None  # somebody else's address of the API; None: our own sandbox
    redis: str | None  # somebody else's server; None: a private Valkey

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Installation:
        place = cls(
            var=Path(environ.get("REELROOM_VAR") or ROOT / "var").resolve(),
            port=read_port(environ, "PORT", 8000),
            sandbox_port=read_port(environ, "SANDBOX_PORT", 8001),
            upstream=environ.get("VIDEO_API_BASE_URL", "").strip() or None,
            redis=environ.get("REDIS_URL", "").strip() or None,
        )
        if place.sandbox_port == place.port and place.upstream is None:
            raise SetupError(
                f"PORT and SANDBOX_PORT are both {place.port}. Give them different numbers."
            )
        return place

    @property
    def portal_url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def sandbox_url(self) -> str:
        return f"http://{LOOPBACK}:{self.sandbox_port}"

    @property
    def video_api_url(self) -> str:
        return self.upstream or f"{self.sandbox_url}/v2"

    def acquire_lock(self) -> IO[str]:
        """Make the folder and lock it; the lock holds as long as the file stays open.

        The warden shares it, so a house whose supervisor was killed keeps the folder until its
        programs are gone: the next one would talk to the old Valkey and find its ports taken.
        """
        try:
            self.var.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.var.chmod(0o700)
            lock = (self.var / "lock").open("w")
        except OSError as error:
            raise SetupError(f"{self.var} cannot be written: {error.strerror}.") from None
        patience = time.monotonic() + reaper.KILL_GRACE_S + 1
        while not try_lock(lock):
            if time.monotonic() > patience:
                raise SetupError(f"Reelroom already runs in {self.var}.")
            time.sleep(0.1)
        return lock

    def check_ports(self) -> None:
        check_port_free(self.port, "PORT")
        if self.upstream is None:
            check_port_free(self.sandbox_port, "SANDBOX_PORT")

    def ensure_secrets(self) -> None:
        """Write random ones on the first start; dashboard/settings.py reads them from there.

        As a whole or not at all: with half of them no later start would write the others.
        """
        path = self.var / "env"
        if path.is_file() and path.stat().st_size:
            return
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        write_installation_file(
            path, f"SECRET_KEY={secrets.token_urlsafe(50)}\nENCRYPTION_KEYS=k1:{key}\n"
        )

    def write_address_file(self) -> None:
        """Write which address of the API is used, for commands that are typed beside it."""
        write_installation_file(
            self.var / "address.env", f"VIDEO_API_BASE_URL={self.video_api_url}\n"
        )

    def environment(self, redis: str) -> dict[str, str]:
        return {
            # Each thread's heap would keep the size of the largest request that it ever answered.
            "MALLOC_ARENA_MAX": "2",
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "PYTHONUNBUFFERED": "1",
            # Celery warns of root at every start; a container and a bare machine have nobody else.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
            "REELROOM_VAR": str(self.var),
            "PORT": str(self.port),
            "REDIS_URL": redis,
            "VIDEO_API_BASE_URL": self.video_api_url,
            # What the virtual environment holds goes before what the machine holds.
            "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]),
        }


def write_installation_file(path: Path, text: str) -> None:
    try:
        private_file.write_private_file(path, text)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error.strerror}.") from None


def try_lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def read_port(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name, "").strip() or str(default)
    if not text.isdecimal() or not 1 <= int(text) <= 65535:
        raise SetupError(f"{name} is {text!r}; it has to be a number from 1 to 65535.")
    return int(text)


def check_port_free(port: int, name: str) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise SetupError(
                f"Port {port} cannot be used ({error.strerror}). "
                f"Choose another one: {name}={port + 80} make run"
            ) from None
