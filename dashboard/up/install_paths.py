"""Folder, ports and secrets of this installation, and the environment of its programs."""

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
    upstream: str | None  # address of an external API; None: the sandbox
    redis: str | None  # URL of an external server; None: a private Valkey

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Installation:
        installation = cls(
            var=Path(environ.get("REELROOM_VAR") or ROOT / "var").resolve(),
            port=read_port(environ, "PORT", 8000),
            sandbox_port=read_port(environ, "SANDBOX_PORT", 8001),
            upstream=environ.get("VIDEO_API_BASE_URL", "").strip() or None,
            redis=environ.get("REDIS_URL", "").strip() or None,
        )
        if installation.sandbox_port == installation.port and installation.upstream is None:
            raise SetupError(
                f"PORT and SANDBOX_PORT are both {installation.port}. They must differ."
            )
        return installation

    @property
    def portal_url(self) -> str:
        """The address for people. The portal listens on `LOOPBACK`, but browsers make no passkey
        for an IP address."""
        return f"http://localhost:{self.port}"

    @property
    def sandbox_url(self) -> str:
        return f"http://{LOOPBACK}:{self.sandbox_port}"

    @property
    def video_api_url(self) -> str:
        return self.upstream or f"{self.sandbox_url}/v2"

    def acquire_lock(self) -> IO[str]:
        """Create and lock the folder; the lock holds as long as the returned file is open.

        From now on files of this process and its programs are their owner's alone; databases of an
        older installation become so.

        The reaper process shares the lock. If the supervisor is killed, the folder stays locked
        until its programs are gone: a new start would talk to the old Valkey and find its ports in
        use.
        """
        try:
            self.var.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.var.chmod(0o700)
            os.umask(0o077)
            for database in self.var.glob("*.sqlite3*"):
                database.chmod(0o600)
            lock = (self.var / "lock").open("w")
        except OSError as error:
            raise SetupError(f"{self.var} cannot be written: {error.strerror}.") from None
        deadline = time.monotonic() + reaper.KILL_GRACE_S + 1
        while not try_lock(lock):
            if time.monotonic() > deadline:
                lock.close()
                raise SetupError(f"Reelroom is already running in {self.var}.")
            time.sleep(0.1)
        return lock

    def check_ports(self) -> None:
        check_port_free(self.port, "PORT")
        if self.upstream is None:
            check_port_free(self.sandbox_port, "SANDBOX_PORT")

    def ensure_secrets(self) -> None:
        """Write random secrets on the first start; dashboard/settings.py reads them.

        The write is atomic: no later start would add what an incomplete file lacks.
        """
        path = self.var / "env"
        if path.is_file() and path.stat().st_size:
            return
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        write_installation_file(
            path, f"SECRET_KEY={secrets.token_urlsafe(50)}\nENCRYPTION_KEYS=k1:{key}\n"
        )

    def write_address_file(self) -> None:
        """Write the API address that is used, for commands that are run separately."""
        write_installation_file(
            self.var / "address.env", f"VIDEO_API_BASE_URL={self.video_api_url}\n"
        )

    def environment(self, redis: str) -> dict[str, str]:
        return {
            # More arenas would keep memory for the largest request of each thread.
            "MALLOC_ARENA_MAX": "2",
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
            "PYTHONUNBUFFERED": "1",
            # Celery warns about root at every start; a container may have no other user.
            "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
            "REELROOM_VAR": str(self.var),
            "PORT": str(self.port),
            "REDIS_URL": redis,
            "VIDEO_API_BASE_URL": self.video_api_url,
            # Programs of the virtual environment come before those of the machine.
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
        raise SetupError(f"{name} is {text!r}; it must be a number from 1 to 65535.")
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
