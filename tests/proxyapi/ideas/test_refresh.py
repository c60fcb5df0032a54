"""The free list is read page by page, until all of it is stored, and no more than that."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi import redis_client, tasks
from proxyapi.ideas import refresh_ideas
from proxyapi.ideas.refresh import PAGE_SIZE, REFRESH_INTERVAL
from proxyapi.models import Account, AccountPlan, Idea, IdeaRefresh, Token, TokenState
from proxyapi.polling.due_work import lease_due_account_reads
from tests.factories import AccountFactory, TokenFactory
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    make_response,
    rate_limited_response,
)

pytestmark = pytest.mark.postgresql

LIST = ("GET", "/ideas")


@pytest.fixture
def account(db: None) -> Account:
    account: Account = AccountFactory.create()
    TokenFactory.create(account=account)
    IdeaRefresh.objects.schedule_first_reads()
    return account


@pytest.fixture
def row(account: Account) -> IdeaRefresh:
    return IdeaRefresh.objects.get(account=account)


class OwnedIdeas:
    """A list of so many ideas, in pages."""

    def __init__(self, count: int) -> None:
        self.rows = [
            {"id": number, "title": f"Idea {number}", "volume": 1000 - number}
            for number in range(count)
        ]

    def __call__(self, request: httpx.Request) -> httpx.Response:
        size, page = (int(request.url.params[name]) for name in ("per_page", "page"))
        return make_response(self.rows[(page - 1) * size : page * size], total=len(self.rows))


def pages_read(upstream: ScriptedUpstream) -> list[int]:
    return [int(it.url.params["page"]) for it in upstream.requests]


def read_all(account: Account) -> Iterator[int]:
    """Run the tasks of the pages that are due."""
    for _ in range(10):
        if not IdeaRefresh.objects.due(timezone.now()).exists():
            return
        refresh_ideas(account.pk)
        yield 1


def test_a_list_is_read_to_its_end_one_page_with_each_task(
    account: Account, row: IdeaRefresh, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, OwnedIdeas(2 * PAGE_SIZE + 5))
    assert sum(read_all(account)) == 3
    assert pages_read(upstream) == [1, 2, 3]
    assert Idea.objects.filter(account=account).count() == 2 * PAGE_SIZE + 5
    row.refresh_from_db()
    assert (row.next_page, row.error, row.read_at is not None) == (1, "", True)
    assert row.due_at > timezone.now() + REFRESH_INTERVAL - timedelta(minutes=1)


def test_a_list_that_is_known_costs_one_request(
    account: Account, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, OwnedIdeas(3 * PAGE_SIZE))
    list(read_all(account))
    upstream.requests.clear()
    IdeaRefresh.objects.update(read_at=None)
    IdeaRefresh.objects.request(account.pk)
    assert sum(read_all(account)) == 1
    assert pages_read(upstream) == [1]
    assert IdeaRefresh.objects.get().requested_at is None


def test_a_request_starts_a_reading_in_progress_again_and_keeps_its_distance(
    account: Account, row: IdeaRefresh, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, OwnedIdeas(3 * PAGE_SIZE))
    refresh_ideas(account.pk)
    IdeaRefresh.objects.request(account.pk)
    row.refresh_from_db()
    assert (row.next_page, row.due_at <= timezone.now()) == (1, True)
    IdeaRefresh.objects.update(read_at=timezone.now())
    IdeaRefresh.objects.request(account.pk)
    row.refresh_from_db()
    assert row.due_at > timezone.now() + timedelta(seconds=4)


def test_a_page_that_was_requested_anew_meanwhile_does_not_end_the_reading(
    account: Account, row: IdeaRefresh, upstream: ScriptedUpstream
) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        IdeaRefresh.objects.request(account.pk)
        return OwnedIdeas(2)(request)

    upstream.respond(*LIST, answer)
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert row.requested_at is not None and row.due_at <= timezone.now()
    assert Idea.objects.count() == 2


@pytest.mark.parametrize(
    "answer",
    [httpx.ReadTimeout, httpx.ConnectError, error_response(500, "GEN-API-ERROR"),
     make_response({"id": 1}), error_response(400, "GEN-WRONG-ARGS")],
)  # fmt: skip
def test_a_read_that_fails_is_repeated_later_and_later_and_says_why(
    answer: Any,
    account: Account,
    row: IdeaRefresh,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond(*LIST, answer)
    refresh_ideas(account.pk)
    row.refresh_from_db()
    first = row.due_at - timezone.now()
    # The limiter has learned nothing of an answer that did not come.
    redis_client.connect_redis().flushall()
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert row.error and row.failures == 2
    assert row.due_at - timezone.now() > first * 1.5
    redis_client.connect_redis().flushall()
    upstream.respond(*LIST, OwnedIdeas(1))
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert (row.error, row.failures) == ("", 0)


def test_a_used_up_rate_limit_delays_the_page_and_is_no_error(
    account: Account, row: IdeaRefresh, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LIST, rate_limited_response(0, 40))
    refresh_ideas(account.pk)
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert len(upstream.requests) == 1
    assert row.due_at > timezone.now() + timedelta(seconds=20)


@pytest.mark.parametrize(
    ("plan", "sentence"),
    [(AccountPlan.TRIAL, "paid plans only, not on trials"), (AccountPlan.NONE, "no active plan")],
)
def test_without_a_paid_plan_nothing_is_sent(
    plan: AccountPlan,
    sentence: str,
    account: Account,
    row: IdeaRefresh,
    upstream: ScriptedUpstream,
) -> None:
    Account.objects.update(plan=plan)
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert sentence in row.error and upstream.requests == []


def test_without_a_token_nothing_is_sent(
    account: Account, row: IdeaRefresh, upstream: ScriptedUpstream
) -> None:
    Token.objects.update(state=TokenState.REVOKED)
    refresh_ideas(account.pk)
    row.refresh_from_db()
    assert "no longer has a working token" in row.error and upstream.requests == []


def test_a_due_list_is_leased_to_one_tick(account: Account) -> None:
    assert list(lease_due_account_reads(IdeaRefresh)) == [account.pk]
    assert list(lease_due_account_reads(IdeaRefresh)) == []
    tasks.refresh_due_accounts.apply()
    assert IdeaRefresh.objects.count() == 1
