"""Refusals: what the portal refuses before anything is sent, each with the sentence for people.

Refusal ├── NotEnoughCredits the hold exceeds the available credits ├── LimitExceeded the hold
exceeds what a spending limit leaves ├── AlreadyInProgress the same operation is in progress ├──
NotReady a precondition of the upstream is not met, or (ChargesStopped) somebody stopped all
charges ├── TokenRefused the token cannot be used or
added ├── TooManyAttempts too many attempts within a minute └── StaleData another person or worker
changed it meanwhile
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class Refusal(Exception):
    """Nothing was sent and nothing was charged. `field` names the form field concerned, if any."""

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field


class NotEnoughCredits(Refusal):
    """`extra`: credits of a second purse of which it is not known whether they can be spent."""

    def __init__(
        self, needed: Decimal, free: Decimal, held_by_others: Decimal, extra: Decimal = Decimal(0)
    ) -> None:
        purse = (
            f"The service also shows {format_credits(extra)} extra credits. Whether they can be "
            "spent is not known until the ledger shows it, or EXTRA_CREDITS is set to beside. "
        )
        super().__init__(
            f"Not sent. It needs {format_credits(needed)} cr; "
            f"{format_credits(max(free, Decimal(0)))} are free. "
            f"{purse if extra and free + extra >= needed else ''}"
            f"{other_team_hold_sentence(held_by_others)}Nothing was charged."
        )
        self.needed, self.free = needed, free


class SpendingLimit(NamedTuple):
    """What a budget of the caller leaves, in credits, below 0 if it is overspent. `key` is the
    caller's name for it."""

    key: str
    remaining: Decimal


class LimitExceeded(Refusal):
    def __init__(self, limit: SpendingLimit) -> None:
        left = format_credits(max(limit.remaining, Decimal(0)))
        super().__init__(
            f"Not sent. {left} cr are left in the spending limit. Nothing was charged."
        )
        self.limit = limit


class AlreadyInProgress(Refusal):
    pass


class NotReady(Refusal):
    pass


class ChargesStopped(NotReady):
    """Somebody stopped all charges of the team."""


class TokenRefused(Refusal):
    pass


class TooManyAttempts(Refusal):
    pass


class StaleData(Refusal):
    pass


def other_team_hold_sentence(amount: Decimal) -> str:
    """A sentence and a space; empty if other teams hold nothing. Nothing more is revealed of
    them."""
    if not amount:
        return ""
    return f"{format_credits(amount)} cr are held by another team that uses this account. "


def format_credits(amount: Decimal) -> str:
    """An amount of credits for a sentence: no trailing zeros, thousands with a comma."""
    return f"{amount.normalize():,f}"
