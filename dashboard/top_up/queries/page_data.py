"""The rows that the parts of the top-up page are told from, each read once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from dashboard.shared.forecast import load_credit_packs
from proxyapi.models import Account, AutoTopUp, CreditPack, LedgerEntry, TopUpChange
from proxyapi.top_up import TopUpSetting

ARRIVALS_WINDOW = timedelta(days=60)
MAX_CHANGES_READ, MAX_CREDIT_ENTRIES_READ = 40, 200


@dataclass(frozen=True, slots=True)
class TopUpFacts:
    """`accounts` are all of the team. `changes` and `arrived`, the entries that are credits, have
    the newest first."""

    account: Account
    accounts: Sequence[Account]
    row: AutoTopUp
    packs: Sequence[CreditPack]
    changes: Sequence[TopUpChange]
    credit_entries: Sequence[LedgerEntry]
    now: datetime
    is_reachable: bool  # whether a token opens the account


def load_top_up_facts(account: Account, accounts: Sequence[Account]) -> TopUpFacts:
    """Three queries; the account comes with its tenant, its ledger, its top-up and whether
    it is reachable (`access.fetch_account`)."""
    now = timezone.now()
    # With the setting, which is written together with a change's end: a form that is drawn with
    # that end and the setting from before it would stay so.
    changes = account.top_up_changes.select_related("member", "account__top_up")
    known = list(changes.order_by("-requested_at")[:MAX_CHANGES_READ])
    arrived = account.entries.filter(amount__gt=0, happened_at__gte=now - ARRIVALS_WINDOW)
    return TopUpFacts(
        account,
        accounts,
        top_up_or_unsaved(known[0].account if known else account),
        load_credit_packs(account),
        known,
        list(arrived.order_by("-happened_at", "-position")[:MAX_CREDIT_ENTRIES_READ]),
        now,
        is_reachable=getattr(account, "is_reachable", False),
    )


def top_up_or_unsaved(account: Account) -> AutoTopUp:
    """As last read; an unsaved empty one before that."""
    row = getattr(account, "top_up", None)
    return row if isinstance(row, AutoTopUp) else AutoTopUp(account=account)


def displayed_setting(facts: TopUpFacts) -> TopUpSetting:
    """What the form shows: the change that is on its way, else the setting as last read."""
    change = facts.changes[0] if facts.changes else None
    if change is not None and change.is_open:
        return TopUpSetting.from_mapping(change.wanted)
    return TopUpSetting.from_row(facts.row)
