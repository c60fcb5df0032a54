"""The accounts of a team as the tabs of a page that shows one of them."""

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
    """Of the page with that name; none where there is nothing to choose."""
    if len(accounts) < 2:
        return ()
    return tuple(
        AccountTab(row.label, f"{reverse(page)}?account={row.pk}", row.pk == chosen.pk)
        for row in accounts
    )
