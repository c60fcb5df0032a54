"""Northlight's ledger: one account, Priya's token, and rows that are added one by one."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership, Team
from proxyapi.ledger.matching import price_difference
from proxyapi.models import Account, Charge, Job, LedgerEntry, LedgerMirror, Token
from proxyapi.rollups import daily_totals, price_counts
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

AddLedgerEntry = Callable[..., LedgerEntry]


def ago(**span: float) -> datetime:
    return timezone.now() - timedelta(**span)


@pytest.fixture
def account(northlight: Team) -> Account:
    return AccountFactory.create(tenant=northlight.tenant, created_at=ago(days=400))


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def ledger(account: Account) -> LedgerMirror:
    """Read to its end, and empty; `book` writes into it."""
    Account.objects.filter(pk=account.pk).update(created_at=ago(days=400))
    return LedgerMirror.objects.create(account=account, read_at=timezone.now())


@pytest.fixture
def add_entry(ledger: LedgerMirror) -> AddLedgerEntry:
    """Writes the next row of the ledger, with the sums of its day."""

    def write(amount: float, at: datetime | None = None, **fields: Any) -> LedgerEntry:
        charge = fields.get("charge")
        if charge is not None:
            given = {"member": charge.member, "job": charge.job, "operation": charge.operation}
            fields = {"confidence": "certain", **given, **fields}
        when = at or timezone.now()
        entry = LedgerEntry.objects.create(
            account=ledger.account,
            position=ledger.high,
            amount=Decimal(str(amount)),
            happened_at=when,
            booked_at=when.isoformat(),
            **{"label": "Render", "credit_spend": str(amount), **fields},
        )
        if charge is not None:
            LedgerEntry.objects.filter(pk=entry.pk).update(
                cost_difference=price_difference(entry, charge)
            )
        if charge is not None and entry.amount < 0:
            Charge.objects.filter(pk=charge.pk).update(booked_at=when)
        ledger.high = ledger.total = ledger.high + 1
        ledger.save()
        daily_totals.rebuild_days(
            ledger.account, daily_totals.days_in_account_zone(ledger.account, [when])
        )
        return entry

    return write


@pytest.fixture
def make_charge(token: Token) -> Callable[..., Charge]:
    """A charge of a member, confirmed unless said otherwise."""

    def make(cost: int = 96, member: Membership | None = None, **fields: Any) -> Charge:
        sent = fields.pop("sent_at", ago(hours=1))
        job = fields.pop("job", None) or video(token)
        state = fields.pop("state", "confirmed")
        spent = {"cost": Decimal(cost)} if state in ("confirmed", "matched") else {}
        given = {"job": job, "state": state, "sent_at": sent, **spent, **fields}
        given["member"] = member.user if member else job.member
        charge = ChargeFactory.create(**given)
        if spent and charge.refunded_at is None:
            price_counts.count_charge(charge)
        return charge

    return make


def video(token: Token, **fields: Any) -> Job:
    given = {"token": token, "account": token.account, "remote_id": uuid.uuid4().hex}
    return JobFactory.create(**(given | fields))
