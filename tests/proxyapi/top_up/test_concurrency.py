"""At once: treasurers who ask, doorbells that ring twice. Threads with connections of their own."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from proxyapi import top_up
from proxyapi.models import Account, Token, TopUpChange, TopUpChangeState
from proxyapi.refusals import AlreadyInProgress
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response
from tests.proxyapi.top_up.conftest import MORE, OFF, ON, PATH, preference

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 6


@pytest.fixture
def token(transactional_db: None) -> Token:
    account: Account = AccountFactory.create()
    token: Token = TokenFactory.create(account=account)
    return token


def at_once(work: Callable[[], None]) -> list[str]:
    """What stopped each of them; nothing where it went through."""
    start = Barrier(MANY)

    def run(_: int) -> str:
        start.wait(120)
        try:
            work()
        except AlreadyInProgress as refusal:
            return refusal.sentence
        finally:
            connection.close()
        return ""

    with ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(run, range(MANY)))


def test_of_treasurers_who_ask_at_once_one_does(token: Token) -> None:
    said = at_once(lambda: ask(token, uuid.uuid4()))
    assert said.count("") == 1
    assert TopUpChange.objects.count() == 1


def test_one_form_sent_many_times_at_once_is_one_change(token: Token) -> None:
    nonce = uuid.uuid4()
    assert at_once(lambda: ask(token, nonce)) == [""] * MANY
    assert TopUpChange.objects.count() == 1


def test_workers_that_start_at_once_send_one_put(token: Token, upstream: ScriptedUpstream) -> None:
    upstream.respond("PUT", PATH, make_response(preference(MORE)))
    change, _ = top_up.request_change(token, token.owner_id, uuid.uuid4(), MORE, ON)
    at_once(lambda: top_up.process_change(change.pk))
    change.refresh_from_db()
    assert (change.state, len(upstream.request_bodies("PUT", PATH))) == (TopUpChangeState.SAVED, 1)
    assert len(upstream.requests) == 2


def ask(token: Token, nonce: uuid.UUID) -> None:
    top_up.request_change(token, token.owner_id, nonce, OFF, ON)
