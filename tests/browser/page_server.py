"""A loopback server for one browser: the site's real pages and static files, in this process.

It works in the transaction of the test, so rows made by factories are on the page, nothing is
committed, and no task is enqueued: there is no worker, no sandbox and no Redis subscription.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs

from django.contrib.staticfiles.handlers import StaticFilesHandler
from django.core.handlers.wsgi import WSGIHandler
from django.core.servers.basehttp import ThreadedWSGIServer
from django.db import connections
from django.test.testcases import QuietWSGIRequestHandler
from django.urls import reverse

END_OF_STREAM = ""


class PageServer(ThreadedWSGIServer):
    """Requests of pages use the database connection of the test, one request after the other."""

    allow_reuse_address = False

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.streams: list[queue.Queue[str]] = []
        self.stream_requests: list[dict[str, list[str]]] = []  # their parameters
        self.hello = "fresh"  # or "stale"
        self.pages = StaticFilesHandler(WSGIHandler())
        super().__init__(("127.0.0.1", 0), QuietWSGIRequestHandler)
        self.set_app(self.answer)

    @property
    def address(self) -> str:
        return f"http://localhost:{self.server_port}"

    def answer(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        if environ["PATH_INFO"] == reverse("live"):
            start_response("200 OK", [("Content-Type", "text/event-stream")])
            self.stream_requests.append(parse_qs(environ["QUERY_STRING"]))
            return self.stream_events()
        if environ["PATH_INFO"].startswith("/static/"):
            return self.pages(environ, start_response)
        with self.lock:
            return self.pages(environ, start_response)

    def stream_events(self) -> Iterator[bytes]:
        events: queue.Queue[str] = queue.Queue()
        self.streams.append(events)
        yield f"event: hello\nid: {int(time.time())}\ndata: {self.hello}\n\n".encode()
        while event := events.get():
            yield event.encode()

    def push(self, event: str, data: str) -> None:
        """Send an event of the live stream to every open page: `push("touched", "budget")`."""
        lines = "\n".join(f"data: {line}" for line in data.splitlines())
        for stream in self.streams:
            stream.put(f"event: {event}\nid: {int(time.time())}\n{lines}\n\n")

    @contextmanager
    def in_transaction_of_test(self) -> Iterator[None]:
        """No request is being answered when this ends."""
        self.connection = connections["default"]
        self.connection.inc_thread_sharing()
        # Each request would close it: in a transaction, autocommit is not what the settings say.
        with patch.object(self.connection, "close_if_unusable_or_obsolete"):
            yield
            while self.streams:
                self.streams.pop().put(END_OF_STREAM)
            self.stream_requests.clear()
            self.hello = "fresh"
            with self.lock:
                self.connection.dec_thread_sharing()

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        connections["default"] = self.connection
        super().process_request_thread(request, client_address)

    def _close_connections(self) -> None:
        """Do nothing: the connection belongs to the test."""


@contextmanager
def running_page_server() -> Iterator[PageServer]:
    with PageServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()
