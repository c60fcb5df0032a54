"""Tabs that choose one account of a team on pages that show a single account."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse

from proxyapi.models import Account


@dataclass(frozen=True, slots=True)
class AccountTab:
    label: str
    url: str
    current: bool


def build_account_tabs(
    page: str, accounts: Sequence[Account], chosen: Account
) -> tuple[AccountTab, ...]:
    """Return a tab per account for the URL name `page`, or nothing if there are fewer than two
    accounts."""
    if len(accounts) < 2:
        return ()
    return tuple(
        AccountTab(row.label, f"{reverse(page)}?account={row.pk}", row.pk == chosen.pk)
        for row in accounts
    )
