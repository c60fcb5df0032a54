"""The sandbox's control plane, as the demo needs it: accounts and tokens out of thin air.

Only for the sandbox: the service itself has no such addresses.
"""

from __future__ import annotations

import http.client
import json
import os
import socket
import time
from typing import Any
from urllib.parse import urlsplit

READY_TIMEOUT_S = 30


class SandboxAdmin:
    def __init__(self, api: str) -> None:
        """`api` is the setting VIDEO_API_BASE_URL; the control plane lives beside `/v2`."""
        parts = urlsplit(api)
        self.host = parts.netloc
        self.address = f"{parts.scheme}://{parts.netloc}"

    def wait_until_ready(self) -> None:
        """Until the sandbox answers, it may just be starting. Raises OSError when it never does."""
        last = time.monotonic() + READY_TIMEOUT_S
        while True:
            try:
                self._request("GET", "/_sandbox/clock")
            except (ConnectionError, TimeoutError, socket.gaierror):  # nor has it a name at first
                if time.monotonic() > last:
                    raise
                time.sleep(0.05)
            else:
                return

    def create_account(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """The account with `account_id`, and `token` in the clear, this once."""
        return {**wanted, **self._request("POST", "/_sandbox/accounts", wanted)}

    def create_token(self, account: dict[str, Any]) -> str:
        path = f"/_sandbox/accounts/{account['account_id']}/tokens"
        return str(self._request("POST", path, {})["token"])

    def _request(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        # Directly, whatever proxy the environment names: the sandbox is next door.
        connection = http.client.HTTPConnection(self.host, timeout=10)
        try:
            headers = {"Content-Type": "application/json"}
            if token := os.environ.get("SANDBOX_CONTROL_TOKEN"):
                headers["Authorization"] = f"Bearer {token}"
            connection.request(
                method, path, json.dumps(body) if body is not None else None, headers
            )
            answer = connection.getresponse()
            if answer.status >= http.HTTPStatus.BAD_REQUEST:
                raise OSError(f"the sandbox answered {answer.status} to {method} {path}")
            return json.loads(answer.read())
        finally:
            connection.close()
