"""Budgets of Northlight, and charges that took something of them."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Budget, Membership, Team
from proxyapi.charges import ChargeIntent
from proxyapi.models import Account, Charge, ChargeState, Job, Token
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Any]
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # a Friday


@pytest.fixture
def account(northlight: Team) -> Account:
    return AccountFactory.create(tenant=northlight.tenant, balance=Decimal(100_000))


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def budget(northlight: Team) -> Callable[..., Budget]:
    """`budget(priya, hard=2500)`; None for the whole team."""

    def make(member: Membership | None, hard: int | None = None, **fields: Any) -> Budget:
        user = member.user if member else None
        return Budget.objects.create(team=northlight, member=user, hard=hard, **fields)

    return make


@pytest.fixture
def video(token: Token) -> Callable[..., Job]:
    """A draft of 96 credits, ready to render."""

    def make(member: Membership, title: str = "Who owns the Moon?", **fields: Any) -> Job:
        chosen = {"type": "ai-visuals", "title": title, "script": "x", "voice_id": 3, "genre_id": 2}
        priced = {"draft__estimate": Decimal(96), "draft__estimate_as_of": timezone.now()}
        saved = {"draft__settings": chosen, "draft__sent_settings": chosen}
        return JobFactory.create(
            account=token.account,
            token=token,
            member=member.user,
            title=title,
            **{"remote_id": uuid.uuid4().hex, **saved, **priced, **fields},
        )

    return make


@pytest.fixture
def add_spending(video: Callable[..., Job]) -> Callable[..., Charge]:
    """`spent(priya, 90)`: settled; `state="held"` holds as much instead."""

    def make(
        member: Membership,
        amount: int | str | Decimal,
        state: str = ChargeState.CONFIRMED,
        **fields: Any,
    ) -> Charge:
        settled = state in (ChargeState.CONFIRMED, ChargeState.MATCHED)
        fields = {"sent_at": timezone.now(), **fields}
        return ChargeFactory.create(
            job=video(member, "Earlier"),
            member=member.user,
            state=state,
            **{"hold": Decimal(amount), "cost": Decimal(amount) if settled else None, **fields},
        )

    return make


def make_intent(
    job: Job, hold: int | Decimal = 106, nonce: uuid.UUID | None = None
) -> ChargeIntent:
    return ChargeIntent(job, "faceless.render", nonce or uuid.uuid4(), Decimal(hold), Decimal(96))


def drawn_form_fields(answer: Any) -> str:
    """What the form of an answer remembers that it was drawn with."""
    found = re.search(r'name="drawn" value="([^"]*)"', answer.content.decode())
    return found[1] if found else ""
