"""Differences that somebody accepted: who, when, why.

A part of its own, fetched after the page, whose twelve queries are spent without it.
"""

from __future__ import annotations

from proxyapi.models import Account, BalanceRebase

MAX_ACCEPTED_DIFFERENCES = 20


def load_accepted_differences(account: Account) -> list[BalanceRebase]:
    """The newest first, with their members. One query."""
    rows = account.rebases.select_related("member").order_by("-happened_at", "-pk")
    return list(rows[:MAX_ACCEPTED_DIFFERENCES])
