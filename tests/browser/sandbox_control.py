"""The portal's sandbox, controlled over its control plane: faults, limits, balances.

The world is never reset, because it has the portal's tokens: each test opens its own accounts.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import httpx

from tests.leaks import Canaries

# Films are plain clips; whatever is made is done before the first look at it.
FAST_SETTINGS = {
    "films": "plain",
    "render_seconds": 1,
    "render_seconds_per_minute": 0,
    "clip_seconds": 1,
    "clip_seconds_per_second": 0,
    "clone_seconds": 1,
    "training_seconds": 1,
    "discovery_seconds": 0,
    "preview_seconds": 0,
}
RENDER_CREDITS = 10


@dataclass(frozen=True, slots=True)
class SandboxGuest:
    """An account of the sandbox, its token in the clear."""

    account: int
    token: str
    fingerprint: str


class SandboxControl:
    """A context: what was set is lifted at its end. Amounts are in credits."""

    def __init__(self, sandbox: str, canaries: Canaries) -> None:
        self.canaries = canaries
        self.http = httpx.Client(base_url=f"{sandbox}/_sandbox", trust_env=False, timeout=30)

    def __enter__(self) -> Self:
        self.usual = self.control_request("GET", "settings")
        self.change_settings(**FAST_SETTINGS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear_faults()
        self.control_request("DELETE", "outcomes")
        self.change_settings(**self.usual)
        self.http.close()

    def control_request(self, method: str, path: str, **json: Any) -> Any:
        answer = self.http.request(method, path, json=json or None)
        assert answer.is_success, answer.text
        return answer.json()

    def change_settings(self, **changed: Any) -> None:
        self.control_request("PUT", "settings", **changed)

    def create_account(self, **wanted: Any) -> SandboxGuest:
        made = self.control_request("POST", "accounts", **{"name": "Northlight Tests", **wanted})
        self.canaries.plant(made["token"])
        return SandboxGuest(made["account_id"], made["token"], made["fingerprints"][0])

    def another_token(self, guest: SandboxGuest) -> SandboxGuest:
        made = self.control_request("POST", f"accounts/{guest.account}/tokens", label="another")
        self.canaries.plant(made["token"])
        return SandboxGuest(guest.account, made["token"], made["fingerprint"][:12])

    def change_account(self, guest: SandboxGuest, **changed: Any) -> None:
        self.control_request("PATCH", f"accounts/{guest.account}", **changed)

    def revoke_token(self, guest: SandboxGuest) -> None:
        self.control_request("DELETE", f"tokens/{guest.fingerprint}")

    def set_fault(
        self, guest: SandboxGuest, action: str, method: str, path: str, **more: Any
    ) -> None:
        match = {"account_id": guest.account, "method": method, "path": path}
        self.control_request("POST", "faults", action=action, match=match, **more)

    def clear_faults(self) -> None:
        self.control_request("DELETE", "faults")

    def script_outcome(self, *statuses: str, **failure: str) -> None:
        """How the next render of anybody goes."""
        self.control_request("POST", "outcomes", statuses=statuses, failure=failure or None)

    def count_requests(self, guest: SandboxGuest, method: str, ending: str) -> int:
        """How many such requests this token has sent."""
        return sum(
            (visit["token"], visit["method"]) == (guest.fingerprint, method)
            and visit["path"].endswith(ending)
            for visit in self.control_request("GET", "journal")
        )

    def spent_credits(self, guest: SandboxGuest) -> int:
        """What the account was charged; fails if anything was charged twice."""
        money = self.control_request("GET", f"accounts/{guest.account}/money")
        assert money["double_charges"] == [] and money["balanced"], money
        return int(money["opening"] - money["balance"])

    @property
    def failed_render_credits(self) -> int:
        """What a render that fails costs in the end: some dialects give it back."""
        return 0 if self.usual["failed_render_refunds"] else RENDER_CREDITS


def wait_until(holds: Callable[[], object], seconds: float = 60) -> None:
    """Check ten times a second until it holds."""
    pause, end = threading.Event(), time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"not within {seconds:.0f} s"
        pause.wait(0.1)
