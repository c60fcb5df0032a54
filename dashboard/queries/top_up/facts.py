"""The rows that the parts of the top-up page are told from, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.queries.forecast import packs_of
from proxyapi.models import Account, AutoTopUp, CreditPack, LedgerEntry, TopUpChange
from proxyapi.top_up import TopUpSetting

BACK = timedelta(days=60)
MOST_CHANGES, MOST_ENTRIES = 40, 200


@dataclass(frozen=True, slots=True)
class Facts:
    """`accounts` are all of the team. `changes` and `arrived`, the entries that are credits, have
    the newest first."""

    account: Account
    accounts: Sequence[Account]
    row: AutoTopUp
    packs: Sequence[CreditPack]
    changes: Sequence[TopUpChange]
    arrived: Sequence[LedgerEntry]
    now: datetime
    is_reachable: bool  # whether a token opens the account


def facts_of(account: Account, accounts: Sequence[Account]) -> Facts:
    """Three queries; the account comes with its vault, its ledger, its top-up and whether
    it is reachable (`access.fetch_account`)."""
    now = timezone.now()
    # With the setting, which is written together with a change's end: a form that is drawn with
    # that end and the setting from before it would stay so.
    changes = account.top_up_changes.select_related("member", "account__top_up")
    known = list(changes.order_by("-asked_at")[:MOST_CHANGES])
    arrived = account.entries.filter(amount__gt=0, happened_at__gte=now - BACK)
    return Facts(
        account,
        accounts,
        row_of(known[0].account if known else account),
        packs_of(account),
        known,
        list(arrived.order_by("-happened_at", "-position")[:MOST_ENTRIES]),
        now,
        is_reachable=getattr(account, "is_reachable", False),
    )


def row_of(account: Account) -> AutoTopUp:
    """As last read; an unsaved empty one before that."""
    row = getattr(account, "top_up", None)
    return row if isinstance(row, AutoTopUp) else AutoTopUp(account=account)


def shown_of(facts: Facts) -> TopUpSetting:
    """What the form shows: the change that is on its way, else the setting as last read."""
    change = facts.changes[0] if facts.changes else None
    if change is not None and change.is_open:
        return TopUpSetting.from_mapping(change.wanted)
    return TopUpSetting.from_row(facts.row)
