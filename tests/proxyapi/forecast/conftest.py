"""The sandbox's own rules of top-up, one movement after the other: what the forecast must equal."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from proxyapi.forecast import DailyCredits
from proxyapi.sandbox import billing, top_up
from proxyapi.sandbox.clock import ClockState, SandboxClock
from proxyapi.sandbox.records import Account, TopUp
from proxyapi.sandbox.world import World


class SimulatedMoves(NamedTuple):
    """After each movement: the balance, and the top-ups so far; then the spends it refused."""

    balances: list[int]
    top_ups: list[int]
    refused: list[int]

    @property
    def balance(self) -> int:
        return self.balances[-1]


class SandboxTopUpRules:
    """A world with one account in it, moved by the modules that the sandbox's routes move it by."""

    def __init__(self, balance: int, monthly: int, units: int | None, *, pays: bool = True) -> None:
        self.world = World(seed=7, clock=SandboxClock("frozen"))
        self.world.accounts.put(
            Account(
                id=1,
                name="Northlight",
                email="a@northlight.example",
                monthly_credits=monthly,
                opening=balance,
                balance=balance,
                payment_method=pays,
                created_at=0.0,
                updated_at=0.0,
            )
        )
        enabled = units is not None
        chosen = TopUp(id=1, enabled=enabled, type="dynamic-credits", units=units)
        self.world.top_ups.put(chosen)

    @property
    def account(self) -> Account:
        account = self.world.accounts.get(1)
        assert account is not None
        return account

    @property
    def top_up(self) -> TopUp:
        return top_up.get_preference(self.world, 1)

    def move(self, at: datetime, credits: int, *, via_api: bool = True) -> bool:
        """One movement as the routes make it; False when it is refused."""
        self.world.clock.state = ClockState(mode="frozen", world=at.timestamp(), machine=0)
        if credits < 0 and -credits > self.account.balance:
            return False
        source = "api" if via_api else "web"
        billing.book_entry(
            self.world, self.account, credits, "Spend", "video", "Debit", source=source
        )
        if via_api and credits < 0:
            top_up.top_up_if_due(self.world, 1)
        return True

    def topped_up(self) -> int:
        return sum(entry.source == "billing" for entry in self.world.entries)

    def run_moves(self, moves: Iterable[tuple[datetime, int, bool]]) -> SimulatedMoves:
        lived = SimulatedMoves([], [], [])
        for number, (at, credits, via_api) in enumerate(moves):
            if not self.move(at, credits, via_api=via_api):
                lived.refused.append(number)
            lived.balances.append(self.account.balance)
            lived.top_ups.append(self.topped_up())
        return lived


def day_movements(day: DailyCredits, at: datetime) -> list[tuple[datetime, int, bool]]:
    """A day of the forecast, charge by charge: spend outside the API first."""
    whole, rest = divmod(day.api_spend, day.charge_size)
    api = [-day.charge_size] * whole + [-rest] * bool(rest)
    outside = [(at, -1, False)] * day.outside_spend
    return [(at, day.into, False), *outside, *((at, one, True) for one in api)]
