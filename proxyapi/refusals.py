"""Refusals: what the portal refuses before anything is sent, each with the sentence for people.

Refusal
├── NotEnoughCredits    the hold exceeds the available credits
├── LimitExceeded       the hold exceeds what a spending limit leaves
├── AlreadyInProgress   the same operation is in progress
├── NotReady            a precondition of the upstream is not met
│   └── ChargesStopped  somebody stopped all charges of the team, or those of one person
├── TokenRefused        the token cannot be used or added
├── TooManyAttempts     too many attempts within a minute
└── StaleData           another person or worker changed it meanwhile
"""

from __future__ import annotations

from decimal import Decimal
from typing import NamedTuple


class CreditCheck(NamedTuple):
    """Whether the credits of an account cover a hold. `extra` is `Account.unlearned_extra`."""

    hold: Decimal = Decimal(0)
    available: Decimal = Decimal(0)
    extra: Decimal = Decimal(0)

    @property
    def fits(self) -> bool:
        """What is free fits an overdrawn account, too."""
        return not self.hold or self.hold <= self.available

    @property
    def is_beyond_balance(self) -> bool:
        """True if only extra credits, of which it is not known whether they can be spent, may pay
        it: a person may have the service decide."""
        return not self.fits and self.hold <= self.available + self.extra

    @property
    def free(self) -> Decimal:
        return max(self.available, Decimal(0))

    @property
    def beyond_balance_text(self) -> str:
        return (
            f"{format_credits(self.free)} cr are free, and {format_credits(self.hold)} would be "
            f"held. {self.extra_text}: if not, the service refuses, and nothing is charged."
        )

    @property
    def extra_text(self) -> str:
        """Without its end: what follows depends on who reads it."""
        return (
            f"The service also shows {format_credits(self.extra)} extra credits. Whether they can "
            "be spent is not known"
        )


NOTHING_TO_PAY = CreditCheck()


class Refusal(Exception):
    """Nothing was sent and nothing was charged. `field` names the form field concerned, if any."""

    needs_approval = False  # a person may request an approval instead
    is_beyond_balance = False  # a person may have the service decide: `CreditCheck`

    def __init__(self, sentence: str, field: str = "") -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.field = field


class NotEnoughCredits(Refusal):
    def __init__(self, check: CreditCheck, held_by_others: Decimal) -> None:
        self.check, self.is_beyond_balance = check, check.is_beyond_balance
        extra = f"{check.extra_text} until the ledger shows it, or EXTRA_CREDITS is set to beside. "
        super().__init__(
            f"Not sent. It needs {format_credits(check.hold)} cr; "
            f"{format_credits(check.free)} are free. "
            f"{extra if self.is_beyond_balance else ''}"
            f"{other_team_hold_sentence(held_by_others)}Nothing was charged."
        )


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


class AgentCreditsUsedUp(Refusal):
    """The allowance of an agent does not hold so many credits more; a person raises it at `url`."""

    is_for_scripts = False

    def __init__(self, needed: Decimal, left: Decimal, url: str) -> None:
        super().__init__(
            f"Not sent. It needs {format_credits(needed)} cr, and {format_credits(left)} are left "
            "of the allowance. A person can raise it. Nothing was charged."
        )
        self.needed, self.left, self.url = needed, left, url


class AlreadyInProgress(Refusal):
    pass


class NotReady(Refusal):
    pass


class ChargesStopped(NotReady):
    """Somebody stopped all charges of the team, or those of one person."""


class TokenRefused(Refusal):
    pass


class TooManyAttempts(Refusal):
    """`wait_s`: seconds until the next attempt is allowed, if that is known."""

    def __init__(self, sentence: str, wait_s: int = 1) -> None:
        super().__init__(sentence)
        self.wait_s = wait_s


class StaleData(Refusal):
    pass


# After "was changed": one person may have a page open in two windows.
BY_OTHERS = "in another window or by somebody else"


def other_team_hold_sentence(amount: Decimal) -> str:
    """A sentence and a space; empty if other teams hold nothing. Nothing more is revealed of
    them."""
    if not amount:
        return ""
    return f"{format_credits(amount)} cr are held by another team that uses this account. "


def format_credits(amount: Decimal) -> str:
    """An amount of credits for a sentence: no trailing zeros, thousands with a comma."""
    return f"{amount.normalize():,f}"
