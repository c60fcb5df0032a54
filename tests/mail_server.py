"""A real SMTP server as a process on this machine, which keeps what it takes as files."""

from __future__ import annotations

import mailbox
import smtplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

START_TIMEOUT_S = 30.0
WAIT_S = 0.05


@dataclass(frozen=True)
class MailServer:
    port: int
    folder: Path

    def messages(self) -> list[Message]:
        return list(mailbox.Maildir(self.folder, create=False))


def find_unused_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port: int = unused.getsockname()[1]
        return port


@contextmanager
def run_mail_server(port: int, folder: Path) -> Iterator[MailServer]:
    """Take every mail at this port until the end of the block."""
    handler = ("-c", "aiosmtpd.handlers.Mailbox", str(folder))
    listen = ("-n", "-l", f"127.0.0.1:{port}")
    command = (sys.executable, "-m", "aiosmtpd", *listen, *handler)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_greeting(port, process)
            yield MailServer(port, folder)
        finally:
            process.terminate()
            process.wait(10)


def wait_until_greeting(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with smtplib.SMTP("127.0.0.1", port, timeout=5):
                return
        except OSError:
            time.sleep(WAIT_S)
    raise AssertionError("the mail server does not answer")
