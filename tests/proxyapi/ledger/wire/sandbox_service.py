"""One account on the sandbox, seen from outside: its ledger, its journal, and who else spends."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from random import Random
from typing import Any

import httpx

from proxyapi.ledger.row_parser import ROW_FIELD_NAMES
from proxyapi.models import Account, LedgerEntry, Token
from proxyapi.sandbox.clock import format_iso

Words = tuple[str, ...]


@dataclass
class SandboxService:
    """`control` is the control plane; `direct` another program with the same token."""

    control: httpx.Client
    direct: httpx.Client
    account_id: int
    token: Token
    asked: list[tuple[int, str]]
    drafts: list[int] = field(default_factory=list)

    @property
    def account(self) -> Account:
        return self.token.account

    def insert_rows(self, *credits: int) -> None:
        """Add so many rows of these credits to the ledger, a second apart unless equal."""
        world = self.control.get("snapshot").json()
        last = {note["id"]: note for note in world["note"]}.get("entry")
        number = last["value"] if last else 0
        start = round(time.time()) - 10 * len(credits) - 3600
        for at, amount in enumerate(credits):
            world["entry"].append(
                {
                    "id": number + at + 1, "account_id": self.account_id, "source": "api",
                    "label": "Script generation", "content_type": "content-prompt",
                    "credits": amount, "transaction_type": "Debit",
                    "created_at": start if amount == TWIN else start + 10 * at,
                }
            )  # fmt: skip
        notes = [note for note in world["note"] if note["id"] != "entry"]
        world["note"] = [*notes, {"id": "entry", "value": number + len(credits)}]
        assert self.control.put("snapshot", json=world).is_success

    def change_entries(self, changed: Any) -> None:
        """Let `changed` work on the list of this account's entries, as no honest service does."""
        world = self.control.get("snapshot").json()
        changed(world["entry"])
        assert self.control.put("snapshot", json=world).is_success

    def spend_outside(self, credits: int) -> None:
        """Outside the API."""
        path = f"accounts/{self.account_id}/spend"
        assert self.control.post(path, json={"credits": credits}).is_success

    def spend_by_script(self) -> None:
        """By the API, with this token, outside the portal."""
        if not self.drafts:
            made = self.direct.post("/faceless", json={"type": "ai-visuals", "title": "Theirs"})
            self.drafts.append(made.json()["data"]["id"])
        body = {"topic": "ice", "duration": 30}
        assert self.direct.put(f"/faceless/{self.drafts[0]}/scripts", json=body).is_success

    def search_ideas(self, chance: Random) -> None:
        body = {"keyword": f"ice {chance.random()}", "network": "youtube"}
        assert self.direct.post("/ideas/discover", json=body).is_success

    def rows(self) -> list[dict[str, Any]]:
        """The service's ledger, from its own memory."""
        entries = self.control.get("snapshot").json()["entry"]
        return [row for row in entries if row["account_id"] == self.account_id]

    def row_texts(self) -> Counter[Words]:
        return Counter(row_text(row) for row in self.rows())

    def forget_requests(self) -> None:
        assert self.control.delete("journal").is_success

    def count_ledger_reads(self) -> int:
        """How often the ledger was asked for since then, by the service's own journal."""
        lines = self.control.get("journal").json()
        return sum(line["path"] == HISTORY for line in lines)

    def full_ledger_pages(self) -> list[int]:
        """The pages that were read of the whole ledger since `asked` was emptied."""
        return [page for page, source in self.asked if not source]

    def money(self) -> dict[str, Any]:
        return dict(self.control.get(f"accounts/{self.account_id}/money").json())


HISTORY = "/v2/credits/history"
TWIN = -7  # rows of this amount stand in one second


def row_text(row: dict[str, Any]) -> Words:
    return (
        row["label"],
        row["content_type"],
        str(row["credits"]),
        row["transaction_type"],
        format_iso(row["created_at"]),
    )


def mirrored_texts(account: Account) -> Counter[Words]:
    rows = LedgerEntry.objects.filter(account=account).values_list(*ROW_FIELD_NAMES)
    return Counter(rows.iterator())


def unmatched_debits(account: Account) -> tuple[int, Decimal]:
    """How many debits have no charge, and their sum."""
    amounts = LedgerEntry.objects.filter(account=account, amount__lt=0, charge=None)
    found = list(amounts.values_list("amount", flat=True))
    return len(found), sum(found, Decimal(0))
