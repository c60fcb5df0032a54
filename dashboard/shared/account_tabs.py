"""What tells the accounts of a team apart: their labels, and tabs that choose one of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from proxyapi.models import Account


@dataclass(frozen=True, slots=True)
class AccountTab:
    label: str
    url: str
    current: bool


def account_labels(accounts: Collection[Account]) -> dict[UUID, str]:
    """Return the label of each account by its id; those of the same name with their e-mail address,
    or with their number at the service if they share that, too."""
    labels = Counter(account.label for account in accounts)
    emails = Counter(account.email for account in accounts)
    named = {}
    for account in accounts:
        is_email_enough = account.email and emails[account.email] == 1
        which = account.email if is_email_enough else f"account {account.upstream_id}"
        label = account.label
        named[account.pk] = label if labels[label] == 1 else f"{label} ({which})"
    return named


def build_account_tabs(
    page: str, accounts: Sequence[Account], chosen: Account
) -> tuple[AccountTab, ...]:
    """Return a tab per account for the URL name `page`, or nothing if there are fewer than two
    accounts."""
    if len(accounts) < 2:
        return ()
    labels = account_labels(accounts)
    return tuple(
        AccountTab(labels[row.pk], f"{reverse(page)}?account={row.pk}", row.pk == chosen.pk)
        for row in accounts
    )
