"""Text-to-video models are read with the options, and stay when they cannot be read."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from proxyapi import tokens
from proxyapi.models import Account, Token
from tests.factories import TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, error_response, make_response

MODELS_PATH = "/text-to-video/models"
ENGINES = {"optional": {"clip_engines": [{"id": 1, "slug": "kite"}]}}
MODEL = {"slug": "kite", "modifiers": {}}


@pytest.fixture
def token(db: None, upstream: ScriptedUpstream) -> Token:
    plan = {"exists": True, "active": True, "trial": False}
    upstream.respond("GET", "/me", make_response({"id": 5, "subscription": plan}))
    upstream.respond("GET", "/credits/costs", make_response({}))
    upstream.respond("GET", "/faceless/options", make_response(ENGINES))
    return TokenFactory.create(account__upstream_id=5, account__clip_models=[{"slug": "old"}])


@pytest.mark.parametrize("data", [[MODEL], {"models": [MODEL]}, [MODEL, 3]])
def test_models_are_stored_as_a_list_or_in_an_object(
    data: Any, token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", MODELS_PATH, make_response(data))
    tokens.refresh_account_profile(token.account)
    assert Account.objects.get().clip_models == [MODEL]


@pytest.mark.parametrize(
    "answer",
    [
        error_response(403, "FEATURE-NOT-ALLOWED"),
        error_response(500, "GEN-API-ERROR"),
        httpx.ConnectError,
        make_response([]),
        make_response({"models": "none"}),
    ],
)
def test_without_readable_models_the_stored_ones_and_the_options_stay(
    answer: Any, token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", MODELS_PATH, answer)
    tokens.refresh_account_profile(token.account)
    account = Account.objects.get()
    assert (account.clip_models, account.options) == ([{"slug": "old"}], ENGINES)
    assert account.options_as_of is not None


def test_a_plan_without_clip_engines_has_models_for_clips(
    token: Token, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/options", make_response({"optional": {}}))
    upstream.respond("GET", MODELS_PATH, make_response([MODEL]))
    tokens.refresh_account_profile(token.account)
    assert Account.objects.get().clip_models == [MODEL]
