"""Every token that a portal is given is a canary: none may leave it, whatever the tests do there.

Heard are the addresses, headers and pages that browsers got, what they keep, the log at DEBUG with
the mails in it, every command that Redis was sent, the database and its dump.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import redis
from playwright.sync_api import BrowserContext

from tests.browser.portal_process import OUTSIDE_VARIABLES, LivePortal
from tests.leaks import Canaries

DUMP_SECONDS = 120
# Static files and films hold nothing of ours, and films are large.
PAGES = r"^(?!.*(/static/|/media/)).*$"


@contextmanager
def watch_portal(site: LivePortal) -> Iterator[Canaries]:
    """Subscribe and listen; at the end fail if a planted token was found anywhere."""
    canaries = Canaries()
    canaries.plant(*(account["token"] for account in site.accounts))
    socket = site.var / "valkey.sock"
    with (
        # None: a busy machine may send no command for longer than the client's five seconds.
        redis.Redis(unix_socket_path=str(socket), socket_timeout=None) as client,
        client.monitor() as monitor,
    ):
        stop = threading.Event()
        thread = threading.Thread(target=scan_redis, args=(monitor, canaries, stop), daemon=True)
        thread.start()
        yield canaries
        stop.set()
        client.ping()  # the command that it waits for
        thread.join(10)
    canaries.scan("the log", *site.lines)
    for path in site.var.glob("reelroom.sqlite3*"):
        canaries.scan(f"the file {path.name}", path.read_bytes())
    canaries.scan("dumpdata", dump_redis(site))
    assert canaries.leaked_tokens() == []


def scan_redis(monitor: redis.client.Monitor, canaries: Canaries, stop: threading.Event) -> None:
    for command in monitor.listen():
        canaries.scan("a command to Redis", str(command["command"]))
        if stop.is_set():
            return


def dump_redis(site: LivePortal) -> bytes:
    environ = {name: value for name, value in os.environ.items() if name not in OUTSIDE_VARIABLES}
    environ |= {"REELROOM_VAR": str(site.var)}
    command = [sys.executable, "manage.py", "dumpdata"]
    done = subprocess.run(
        command, env=environ, capture_output=True, check=True, timeout=DUMP_SECONDS
    )
    return done.stdout


def scan_browser_context(canaries: Canaries, context: BrowserContext, har: Path) -> None:
    """Close the context and hear all it got and keeps. What a person typed in is theirs to send."""
    canaries.scan("what the browser keeps", json.dumps(context.storage_state()))
    context.close()
    for entry in json.loads(har.read_text())["log"]["entries"]:
        request = entry["request"] | {"postData": None}
        canaries.scan("an address or a header", json.dumps(request))
        canaries.scan("a page", json.dumps(entry["response"]))
