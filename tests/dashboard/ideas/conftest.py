"""Priya's token, and ideas that Northlight owns."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Account, Charge, ChargeState, Idea, Token
from tests.dashboard.studio.conftest import OPTIONS
from tests.factories import AccountFactory, TokenFactory

# What `client_of` gives, without the types of a test client.
Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
DISCOVER = "ideas.discover"


@pytest.fixture
def account(priya: Membership) -> Account:
    account: Account = AccountFactory.create(
        tenant=priya.team.tenant, options=OPTIONS, costs={"idea_discovery": {"credits": 15}}
    )
    return account


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    token: Token = TokenFactory.create(account=account, owner=priya.user)
    return token


def make_search(token: Token, keyword: str, network: str = "youtube", **fields: Any) -> Charge:
    """A search that was charged a minute ago, unless said."""
    now = timezone.now()
    values = {
        "state": ChargeState.CONFIRMED,
        "cost": Decimal(15),
        "sent_at": now - timedelta(seconds=90),
        "settled_at": now - timedelta(seconds=60),
        "created_at": now - timedelta(seconds=91),
        **fields,
    }
    charge: Charge = Charge.objects.create(
        tenant=token.tenant,
        account=token.account,
        token=token,
        member=token.owner,
        operation=DISCOVER,
        body={"keyword": keyword, "network": network},
        nonce=uuid.uuid4(),
        quote=Decimal(15),
        hold=Decimal(15),
        **values,
    )
    return charge


def make_ideas(
    account: Account, *titles: str, keyword: str = "lakes", network: str = "youtube", **fields: Any
) -> list[Idea]:
    """Ideas by falling volume."""
    return [
        Idea.objects.create(
            account=account,
            remote_id=f"{keyword}-{network}-{number}-{title}"[:64],
            keyword=keyword,
            network=network,
            title=title,
            volume=1000 - 10 * number,
            rank=number,
            **fields,
        )
        for number, title in enumerate(titles, start=1)
    ]


def text_of(response: Any) -> str:
    """A page without its line breaks, for sentences that the template breaks."""
    return " ".join(response.content.decode().split())
