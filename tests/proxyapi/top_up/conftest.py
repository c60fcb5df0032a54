"""An account whose top-up was read once, and a service that keeps one preference."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from proxyapi import top_up
from proxyapi.models import Account, Token, TopUpChange
from proxyapi.top_up import TopUpSetting
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

PATH = "/account/auto-topup"
ON = TopUpSetting(True, "dynamic-credits", None, 20)
OFF = TopUpSetting(False, "dynamic-credits", None, 20)
MORE = TopUpSetting(True, "dynamic-credits", None, 50)


def preference(setting: TopUpSetting = ON, failures: int = 0) -> dict[str, Any]:
    enabled_at = "2026-11-01T09:00:00Z" if setting.enabled else None
    return {**setting.to_dict(), "enabled_at": enabled_at, "consecutive_failures": failures}


@pytest.fixture
def upstream(upstream: ScriptedUpstream) -> ScriptedUpstream:
    upstream.respond("GET", PATH, make_response(preference()))
    return upstream


@pytest.fixture
def account(db: None) -> Account:
    return AccountFactory.create()


@pytest.fixture
def token(account: Account) -> Token:
    return TokenFactory.create(account=account)


@pytest.fixture
def requested_change(token: Token) -> Callable[..., TopUpChange]:
    """A change that a person requested, not sent yet."""

    def ask(wanted: TopUpSetting = MORE, seen: TopUpSetting = ON) -> TopUpChange:
        return top_up.request_change(token, token.owner_id, uuid.uuid4(), wanted, seen)[0]

    return ask
