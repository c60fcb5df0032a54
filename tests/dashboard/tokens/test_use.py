"""What the tokens page says of the use of a token: when, for what, and what to do about none."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.formatting import clock
from dashboard.shared.member_token import require_member_token
from dashboard.tokens.queries import load_tokens_page
from proxyapi.models import Account, TokenState
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]


@pytest.fixture
def account(priya: Membership) -> Account:
    return AccountFactory.create(tenant=priya.team.tenant)


def test_an_address_that_is_not_verified_has_a_way_out(
    account: Account, priya: Membership, client_of: ClientOf
) -> None:
    account.email_verified = False
    account.save()
    TokenFactory.create(account=account, owner=priya.user)
    page = client_of(priya).get(reverse("tokens")).content.decode()
    assert 'href="#help-address">What to do</a>' in page
    assert '<div id="help-address"' in page


def test_a_token_that_works_needs_nothing_at_the_service(
    account: Account, priya: Membership, client_of: ClientOf
) -> None:
    TokenFactory.create(account=account, owner=priya.user)
    page = client_of(priya).get(reverse("tokens")).content.decode()
    assert "What to do" not in page


def test_the_last_use_of_a_token_is_shown(
    account: Account, priya: Membership, client_of: ClientOf
) -> None:
    token = TokenFactory.create(account=account, owner=priya.user)
    browser = client_of(priya)
    assert "last used: no record" in page_text(browser.get(reverse("tokens")).content)
    job = JobFactory.create(account=account, token=token)
    used_at = timezone.now() - timedelta(days=400)
    ChargeFactory.create(job=job, sent_at=used_at)
    assert f"last used: {clock(used_at)}" in page_text(browser.get(reverse("tokens")).content)


def test_the_token_that_new_work_uses_is_marked_where_there_are_several(
    account: Account, priya: Membership, mira: Membership, client_of: ClientOf
) -> None:
    used, browser = TokenFactory.create(account=account, owner=priya.user), client_of(priya)
    TokenFactory.create(account=account, owner=mira.user)
    assert "used for new work" not in page_text(browser.get(reverse("tokens")).content)
    for state in (TokenState.PAUSED, TokenState.REVOKED):  # newer, and not chosen
        TokenFactory.create(account=account, owner=priya.user, state=state)
    _, *rows = browser.get(reverse("tokens")).content.decode().split('<tr id="token-')
    marked = [row[:36] for row in rows if "used for new work" in page_text(row.encode())]
    assert marked == [str(used.pk)] == [str(require_member_token(priya).pk)]


def test_the_page_asks_the_same_number_of_queries_for_any_number_of_tokens(
    account: Account, priya: Membership, django_assert_num_queries: Any
) -> None:
    for _ in range(3):
        TokenFactory.create(account=account, owner=priya.user)
    with django_assert_num_queries(2):
        page = load_tokens_page(priya)
        assert list(page["closed"]) == []
