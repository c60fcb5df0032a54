"""A stage: one paying account on the real sandbox, its token here, and hands on both."""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import httpx
from django.utils import timezone

from proxyapi import tokens
from proxyapi.charges import dispatch_charge, reconcile_charge
from proxyapi.models import Charge, ChargeState, Token
from proxyapi.upstream.secret import Secret
from proxyapi.upstream.tls import shared_ssl_context
from tests.factories import TenantFactory, UserFactory

# Everything charges, so that a lost charge can be told from a lost gift.
OPERATION_PRICES = {
    "content_prompt_requested": {"credits": 4},
    "faceless_render": {"credits": 10},
    "faceless_export": {"credits": 5},
    "idea_discovery": {"credits": 15},
    "character_training": {"credits": 10},
    "character_preview": {"credits": 3},
    "voice_clone_slot": {"credits": 50},
    "ai_image_regenerated": {"credits": 2},
}
SETTINGS: dict[str, Any] = {
    "dialect": os.environ.get("REELROOM_DIALECT", "spec"),  # or service-v1
    "films": "plain",
    "rate_limit": 10_000,
    "scraping_pool": 100_000,
    "previews_per_minute": 100_000,
    "render_seconds": 0.02,
    "render_seconds_per_minute": 0,
    "clip_seconds": 30,
    "training_seconds": 30,
    "clone_seconds": 30,
    "clone_slots": 0,
    "discovery_seconds": 0,
    "preview_seconds": 0,
    "wizard_prompt_charged": True,
    "storyboard_charged": "at_clips",
    "journal_lines": 10**6,
    "double_charge_seconds": 0,  # searches are repeated knowingly; blind retries are told anyway
    "costs": OPERATION_PRICES,
}
ACCOUNT_DATA = {
    "name": "Northlight",
    "email": "account@northlight.example",
    "email_verified": True,
    "subscription": "paid",
    "plan": "Studio",
    "monthly_credits": 12_000,
    "credits": 5_000,
}
POLL_INTERVAL_S = 0.25  # seconds; what another charge's answer made due meanwhile
FINAL_STATES = (
    ChargeState.CONFIRMED,
    ChargeState.MATCHED,
    ChargeState.REFUSED,
    ChargeState.WRITTEN_OFF,
)


@dataclass
class SandboxAccount:
    """`control` is the sandbox's control plane, `direct` its API without us in between."""

    control: httpx.Client
    direct: httpx.Client
    account_id: int
    token: Token
    aside: Decimal = Decimal(0)  # what was spent on the sandbox without us
    faults: list[int] = field(default_factory=list)  # their numbers, until they are lifted

    def response_data(self, method: str, path: str, **sent: Any) -> Any:
        answer = self.direct.request(method, path, **sent)
        assert answer.is_success, answer.text
        body = answer.json()
        self.aside += Decimal((body.get("meta") or {}).get("credits", {}).get("cost", 0))
        return body["data"]

    def account_money(self) -> dict[str, Any]:
        return dict(self.control.get(f"accounts/{self.account_id}/money").json())

    def spent_credits(self) -> Decimal:
        """What the sandbox's own books say was taken, less what came back."""
        return -Decimal(str(self.account_money()["ledger_sum"]))

    def count_posts(self, path: str) -> int:
        """How many requests came for a path that ends like this."""
        lines = self.control.get("journal").json()
        return sum(line["method"] != "GET" and line["path"].endswith(path) for line in lines)

    def set_fault(self, path: str, action: str, when: str = "before", **options: Any) -> None:
        match = {"path": path, "account_id": self.account_id}
        rule = {"match": match, "when": when, "action": action, "times": 1, **options}
        answer = self.control.post("faults", json=rule)
        assert answer.is_success, answer.text
        self.faults.append(answer.json()["id"])

    def are_faults_met(self) -> bool:
        """Whether a request met each fault of this stage."""
        fired = {one["id"]: one["fired"] for one in self.control.get("faults").json()}
        return all(fired.get(number) for number in self.faults)

    def clear_faults(self) -> None:
        """End the faults of this stage; those of others who play in this world stay."""
        while self.faults:
            self.control.delete(f"faults/{self.faults.pop()}")

    def wait_for_status(self, path: str, word: str, inner: str = "video") -> dict[str, Any]:
        """The resource, once its status is that word."""
        while True:  # films of other tests may be in line before it
            found = dict(self.response_data("GET", path))
            if found[inner]["status"] == word:
                return found
            threading.Event().wait(0.1)


@contextmanager
def open_sandbox_account(
    control: httpx.Client, *, empty: bool = True, text: str = ""
) -> Iterator[SandboxAccount]:
    """A rich account, in an empty world if nobody else plays there, and its token here.

    `text` is the token's, if it shall be another one than the sandbox makes.
    """
    if empty:
        control.post("reset", json={})
    assert control.put("settings", json=SETTINGS).is_success
    account = control.post("accounts", json={**ACCOUNT_DATA, "credits": 10**7}).json()
    if text:
        path = f"accounts/{account['account_id']}/tokens"
        account |= control.post(path, json={"token": text}).json()
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(account["token"]))
    tokens.refresh_account_profile(token.account)
    token.account.refresh_from_db()
    bearer = {"Authorization": f"Bearer {account['token']}"}
    address = str(control.base_url).replace("_sandbox/", "v2")
    with httpx.Client(
        base_url=address, headers=bearer, verify=shared_ssl_context(), timeout=30
    ) as direct:
        yield SandboxAccount(control, direct, account["account_id"], token)


def work_until_settled(
    charge: Charge, seconds: float = math.inf, reads: float = math.inf
) -> Charge:
    """Do what workers do with a charge when it is due, until it is settled, the time is over, or
    it was read so often."""
    until = time.monotonic() + seconds
    while charge.state not in FINAL_STATES and time.monotonic() < until and reads > 0:
        ahead = (charge.due_at - timezone.now()).total_seconds() if charge.attempts else 0.0
        if ahead > 0:
            threading.Event().wait(min(ahead, POLL_INTERVAL_S))
        elif charge.state == ChargeState.HELD:
            dispatch_charge(charge.pk)
        else:
            reads -= 1
            reconcile_charge(charge.pk)
        charge.refresh_from_db()
    return charge
