"""A client of the sandbox's control API, which creates accounts and tokens for the demo.

The service itself has no such endpoints.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

READY_TIMEOUT_S = 30
REQUEST_TIMEOUT_S = 60  # a replay handles hundreds of calls


class SandboxAdmin:
    def __init__(self, api: str) -> None:
        """`api` is the setting `VIDEO_API_BASE_URL`; the control API is on the same host."""
        parts = urlsplit(api)
        self.host = parts.netloc
        self.address = f"{parts.scheme}://{parts.netloc}"

    def wait_until_ready(self) -> None:
        """Wait for a starting sandbox. Raises `OSError` if it does not answer within
        `READY_TIMEOUT_S`."""
        deadline = time.monotonic() + READY_TIMEOUT_S
        while True:
            try:
                self._request("GET", "/_sandbox/clock")
            except (ConnectionError, TimeoutError, socket.gaierror):  # its name may not resolve yet
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
            else:
                return

    def create_account(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The account with `account_id`, and with `token` in clear, which is returned only once."""
        return {**fields, **self._request("POST", "/_sandbox/accounts", fields)}

    def create_token(self, account: dict[str, Any]) -> str:
        path = f"/_sandbox/accounts/{account['account_id']}/tokens"
        return str(self._request("POST", path, {})["token"])

    def replay(self, calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers to calls of the past, each with `status`, and `body` if the call is named."""
        answer = self._request("POST", "/_sandbox/replay", {"calls": list(calls)})
        answers: list[dict[str, Any]] = answer["answers"]
        return answers

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        # No proxy of the environment: the sandbox is on the local network.
        connection = http.client.HTTPConnection(self.host, timeout=REQUEST_TIMEOUT_S)
        try:
            headers = {"Content-Type": "application/json"}
            if token := os.environ.get("SANDBOX_CONTROL_TOKEN"):
                headers["Authorization"] = f"Bearer {token}"
            connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            response = connection.getresponse()
            if response.status >= http.HTTPStatus.BAD_REQUEST:
                raise OSError(f"the sandbox answered {response.status} to {method} {path}")
            return json.loads(response.read())
        finally:
            connection.close()
