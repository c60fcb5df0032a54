"""A real SMTP server as a process on this machine, which keeps what it takes as files."""

from __future__ import annotations

import mailbox
import smtplib
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from tests.servers import wait_until_ready


@dataclass(frozen=True)
class MailServer:
    port: int
    folder: Path

    def messages(self) -> list[Message]:
        return list(mailbox.Maildir(self.folder, create=False))


@contextmanager
def run_mail_server(port: int, folder: Path) -> Iterator[MailServer]:
    """Take every mail at this port until the end of the block."""
    handler = ("-c", "aiosmtpd.handlers.Mailbox", str(folder))
    listen = ("-n", "-l", f"127.0.0.1:{port}")
    command = (sys.executable, "-m", "aiosmtpd", *listen, *handler)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until_ready(process, lambda: greet(port), OSError)
            yield MailServer(port, folder)
        finally:
            process.terminate()
            process.wait()


def greet(port: int) -> None:
    with smtplib.SMTP("127.0.0.1", port):
        pass
