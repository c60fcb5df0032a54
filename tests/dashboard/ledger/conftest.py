"""Northlight's ledger: one account, rows with and without a charge, and the sums of their days."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from dashboard.models import Membership, Team
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry, LedgerMirror, Token
from proxyapi.rollups.daily_totals import days_in_account_zone, rebuild_days
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    JobFactory,
    TokenFactory,
)

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # a Friday
AddLedgerEntry = Callable[..., LedgerEntry]


@pytest.fixture(autouse=True)
def _noon():
    with time_machine.travel(NOON, tick=False):
        yield


def days_ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


@pytest.fixture
def account(northlight: Team) -> Account:
    return mark_fully_read(AccountFactory.create(tenant=northlight.tenant))


def mark_fully_read(account: Account) -> Account:
    """Its ledger was read to the end."""
    LedgerMirror.objects.create(
        account=account, read_at=timezone.now(), balance_exact=account.balance
    )
    return account


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


def sum_up(account: Account, *moments: datetime) -> None:
    """The days of those moments, else all."""
    moments = moments or tuple(account.entries.values_list("happened_at", flat=True))
    with transaction.atomic():
        rebuild_days(account, days_in_account_zone(account, moments))


@pytest.fixture
def add_entry(account: Account, token: Token) -> AddLedgerEntry:
    """Add a row: 96 cr for a render of Priya's unless given; with `by` None it is nobody's."""

    def make(spend: str = "-96", by: str = "Priya", **fields: Any) -> LedgerEntry:
        given = {
            "happened_at": days_ago(hours=1),
            "credit_spend": spend,
            "account": account,
            **fields,
        }
        if by:
            given = {**matched(token, given.pop("operation", "faceless.render")), **given}
        entry = EntryFactory.create(**given)
        sum_up(entry.account)
        return entry

    return make


def matched(token: Token, operation: str) -> dict[str, Any]:
    charge = charge_of(token, operation)
    return {
        "charge": charge,
        "member": charge.member,
        "job": charge.job,
        "operation": operation,
        "confidence": "certain",
        "reason": "The amount fits this charge alone.",
    }


def charge_of(token: Token, operation: str) -> Charge:
    job = JobFactory.create(account=token.account, token=token, title="How to read a glacier")
    spent = {"state": ChargeState.CONFIRMED, "cost": 96, "sent_at": days_ago(hours=1, seconds=4)}
    return ChargeFactory.create(job=job, operation=operation, **spent)
