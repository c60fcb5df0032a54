"""A code or a refresh token that comes several times at the same moment counts once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from allauth.idp.oidc.models import Token as OAuthToken
from django.db import connection

from dashboard.models import Membership
from proxyapi.models import ApiKey, Token
from tests.dashboard.agents.conftest import Program, query_of

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 6


def at_once(action: Callable[[], Any]) -> list[int]:
    """The statuses of the same request, sent several times."""
    start = Barrier(TIMES)

    def send() -> int:
        start.wait(120)
        try:
            return int(action().status_code)
        finally:
            connection.close()

    with ThreadPoolExecutor(TIMES) as pool:
        return sorted(done.result() for done in [pool.submit(send) for _ in range(TIMES)])


def test_one_of_two_refreshes_at_once_gets_tokens(
    connect: Callable[..., dict[str, Any]], program: Program
) -> None:
    value = connect()["refresh_token"]
    assert at_once(lambda: program.refresh(value)) == [200, *[400] * (TIMES - 1)]
    assert not OAuthToken.objects.exists()  # it came twice, so all of them ended


def test_one_of_two_exchanges_of_a_code_at_once_gets_tokens(
    press: Callable[..., Any], priya: Membership, token: Token, program: Program
) -> None:
    code = query_of(press(priya, program.consent_url()))["code"]
    assert at_once(lambda: program.exchange(code)) == [200, *[400] * (TIMES - 1)]
    assert not OAuthToken.objects.exists()


def test_two_consents_at_once_make_one_agent(
    press: Callable[..., Any], priya: Membership, token: Token, program: Program
) -> None:
    url = program.consent_url()
    press(priya, url, cancel="1")  # its document is read
    assert at_once(lambda: press(priya, url)) == [303] * TIMES
    assert ApiKey.objects.get().allowance == 50
