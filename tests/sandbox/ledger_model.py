"""What an account's books must be by the spec's rules, kept apart from the sandbox's own.

The model looks at what is seen from outside: rows of the ledger, charges of the audit, the
top-up preference. Each new row has to be one that the last step explains.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

DAY = 24 * 3600
PRICES = {
    "content_prompt_requested": 4, "faceless_render": 10, "faceless_export": 5,
    "idea_discovery": 15, "character_training": 10, "voice_clone_slot": 50,
    "ai_image_regenerated": 2, "text_to_video": 6, "text_to_scene": 12,
}  # fmt: skip
FREE = {"faceless_export": 1, "ai_image_regenerated": 5}
REFUNDED = {  # by the content type of their rows
    "text-to-video": "text_to_video",
    "ai-visuals": "faceless_render",
    "character": "character_training",
    "text-to-scene": "text_to_scene",
}


def utc_day(instant: float) -> str:
    return datetime.fromtimestamp(instant, tz=UTC).date().isoformat()


@dataclass
class TopUpModel:
    """The preference and what the rules remember."""

    enabled: bool = False
    units: int = 0
    failures: int = 0
    failed_at: float | None = None
    succeeded: Counter[str] = field(default_factory=Counter)

    def due(self, now: float, balance: int, monthly: int) -> bool:
        rested = self.failed_at is None or now >= self.failed_at + DAY
        below = balance * 100 < monthly * 10
        return self.enabled and below and rested and self.succeeded[utc_day(now)] < 3

    def charge(self, now: float, *, succeeds: bool) -> int:
        """The payment method is charged: the credits that it brings."""
        if succeeds:
            self.succeeded[utc_day(now)] += 1
            self.failures = 0
            return self.units * 100
        self.failures, self.failed_at = self.failures + 1, now
        self.enabled = self.enabled and self.failures < 3
        return 0


@dataclass
class LedgerModel:
    opening: int
    monthly: int
    balance: int
    top_ups: TopUpModel = field(default_factory=TopUpModel)
    rows: list[tuple[str, str, int]] = field(default_factory=list)  # label, type, credits
    uses: Counter[str] = field(default_factory=Counter)
    refundable: Counter[str] = field(default_factory=Counter)
    charges: int = 0
    asked: dict[tuple[str, str], tuple[float, bool]] = field(default_factory=dict)
    doubles: list[int] = field(default_factory=list)

    def price(self, feature: str) -> int:
        """Free uses come before credits."""
        return 0 if self.uses[feature] < FREE.get(feature, 0) else PRICES[feature]

    def check_charge(self, it: dict[str, Any], key: str, now: float, *, told: bool) -> int:
        """A new charge of the audit; returns its credits, having checked them."""
        feature = it["feature"]
        assert it["credits"] == self.price(feature), (it, self.uses)
        assert it["answered"] == told, it
        self.uses[feature] += 1
        self.refundable[feature] += 1
        before = self.asked.get((feature, key))
        if before is not None and (now - before[0] <= 3 or not before[1]):
            self.doubles.append(it["number"])
        self.asked[feature, key] = (now, told)
        self.balance -= it["credits"]
        return int(it["credits"])

    def check_new_rows(
        self, rows: list[dict[str, Any]], debit: int, top_up: int, other: int | None
    ) -> None:
        """Every new row is the debit, the top-up or the grant of this step, or a refund."""
        wanted = ([-debit] if debit else []) + ([] if other is None else [other])
        for row in rows:
            credits = int(row["credit_spend"])
            if row["transaction_type"] == "Refund":
                self._refund(credits, row["content_type"])
            elif row["content_type"] == "top-up":
                assert credits == top_up, row
                self.balance, top_up = self.balance + top_up, 0
            else:
                wanted.remove(credits)
            self.rows.append((row["label"], row["transaction_type"], credits))
        assert wanted == [], f"not in the ledger: {wanted}"
        assert not top_up, f"no top-up of {top_up}"

    def _refund(self, credits: int, content_type: str) -> None:
        feature = REFUNDED[content_type]
        assert credits == PRICES[feature], (content_type, credits)
        self.refundable[feature] -= 1
        assert self.refundable[feature] >= 0, "refunded twice"
        self.balance += credits
