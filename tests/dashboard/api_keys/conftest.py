"""A key of Priya that may do everything but read the account, and browsers of who confirmed."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.gateway.keys import NewKey, create_key
from proxyapi.models import Account, ApiKey, Charge, ChargeState, KeyScope, Token
from tests.dashboard.members import conftest
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

confirmed_client_of = conftest.confirmed_client_of
mira_has_password = conftest.mira_has_password
SCOPES = [KeyScope.READ, KeyScope.CREATE, KeyScope.RENDER]


@pytest.fixture
def account(mira: Membership) -> Account:
    return AccountFactory.create(tenant=mira.team.tenant, name="Northlight Media")


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def make_key(token: Token, priya: Membership) -> Callable[..., ApiKey]:
    def make(name: str = "nightly-shorts", owner: Membership = priya, **fields: Any) -> ApiKey:
        scopes = fields.pop("scopes", SCOPES)
        return create_key(owner.team.tenant, owner.user_id, name, scopes, **fields).key

    return make


@pytest.fixture
def new_key(token: Token, priya: Membership) -> NewKey:
    return create_key(priya.team.tenant, priya.user_id, "nightly-shorts", SCOPES)


@pytest.fixture
def spend(token: Token) -> Callable[..., Charge]:
    """A charge of a key: its cost, or what it holds."""

    def charged(key: ApiKey, cost: int = 0, hold: int = 0, **fields: Any) -> Charge:
        job = JobFactory.create(account=token.account, token=token, draft=None)
        state = ChargeState.CONFIRMED if cost else ChargeState.HELD
        settled = {"cost": Decimal(cost), "sent_at": timezone.now()} if cost else {}
        settled |= {"settled_at": timezone.now()} if cost else {}
        amounts = {"hold": Decimal(hold or cost), "state": state, **settled, **fields}
        return ChargeFactory.create(job=job, api_key=key, **amounts)

    return charged
