"""Northlight's account with its top-up on, and a treasurer's browser before its page."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from proxyapi import tasks
from proxyapi.models import Account, AutoTopUp, LedgerEntry, LedgerMirror
from proxyapi.rollups import daily_totals
from proxyapi.top_up import TopUpSetting
from tests.factories import AccountFactory, EntryFactory, TokenFactory

ClientOf = Callable[[Membership], Client]
ON = TopUpSetting(True, "dynamic-credits", None, 20)
HTMX = {"HX-Request": "true"}


@pytest.fixture
def account(mira: Membership) -> Account:
    account: Account = AccountFactory.create(tenant=mira.team.tenant, balance=Decimal(4318))
    TokenFactory.create(account=account, owner=mira.user)
    AutoTopUp.objects.create(account=account, **ON.to_dict(), read_at=timezone.now())
    return account


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The changes for which a worker was rung."""
    rung: list[str] = []
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: rung.append(str(id)))
    return rung


def form_data(account: Account, seen: TopUpSetting = ON, **changed: Any) -> dict[str, str]:
    """What the form sends; a name without a value is left out."""
    fields = {
        "account": str(account.pk),
        "seen": json.dumps(seen.to_dict()),
        "enabled": "on",
        "type": "dynamic-credits",
        "units": "50",
        **changed,
    }
    return {name: str(value) for name, value in fields.items() if value is not None}


def confirm_change(browser: Client, account: Account, **changed: Any) -> Any:
    """The question answered with yes."""
    nonce = changed.pop("nonce", uuid.uuid4())
    return browser.post(
        reverse("top-up-changes"), {**form_data(account, **changed), "nonce": nonce}
    )


def visible_text_of(response: Any) -> str:
    """What a reader sees, in one line."""
    body = re.sub(r"<(script|style).*?</\1>", " ", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body)))


@pytest.fixture
def add_spend(account: Account) -> Callable[..., LedgerEntry]:
    """An entry so many days ago, and the sums of its day."""
    LedgerMirror.objects.update_or_create(account=account, defaults={"read_at": timezone.now()})

    def enter(amount: str, days: float = 1, label: str = "AI video", **more: Any) -> LedgerEntry:
        at = timezone.now() - timedelta(days=days)
        entry: LedgerEntry = EntryFactory.create(
            account=account,
            position=account.entries.count(),
            label=label,
            credit_spend=amount,
            amount=Decimal(amount),
            happened_at=at,
            via_api=more.pop("via_api", True),
            **more,
        )
        daily_totals.rebuild_days(account, {at.astimezone(account.tenant.zone).date()})
        return entry

    return enter
