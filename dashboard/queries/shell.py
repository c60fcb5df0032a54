"""What stands around every page: the team, the purse, what moves, whether the service answers."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from dashboard.models import Membership


@dataclass(frozen=True, slots=True)
class Shell:
    team: str
    balance: Decimal | None


def shell_of(membership: Membership) -> Shell:
    return Shell(team=membership.team.name, balance=None)
