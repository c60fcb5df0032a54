"""One press of Render locks the account once and looks for the form's key once."""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.models import Budget, Membership
from proxyapi.models import Charge, Job
from proxyapi.models.duration_class import DurationClass
from tests.dashboard.studio.conftest import Browser, job_url

# SQLite has no row locks: there the statement is known by its order and its subquery.
ACCOUNT_LOCK = re.compile(r'FROM "proxyapi_account" WHERE .*\(SELECT .* ORDER BY .*"id" ASC')
KEY_LOOKUP = re.compile(r'^SELECT .* FROM "proxyapi_charge" WHERE .*"nonce" = ')


def press_render(browser: Any, job: Job, nonce: uuid.UUID) -> list[str]:
    """The statements of one press at the price that was shown."""
    form = {"nonce": str(nonce), "price": "96"}
    with CaptureQueriesContext(connection) as captured:
        answer = browser.post(job_url(job, "renders"), form)
    assert answer.status_code == 302, answer.content.decode()
    return [query["sql"] for query in captured]


def count_locks_and_lookups(statements: Sequence[str]) -> tuple[int, int]:
    locks = [sql for sql in statements if ACCOUNT_LOCK.search(sql)]
    if connection.vendor == "postgresql":
        row_locks = [sql for sql in statements if "FOR NO KEY UPDATE" in sql]
        # The rule of a second person is a column of the team.
        assert locks == [sql for sql in row_locks if 'FROM "dashboard_team"' not in sql]
    return len(locks), sum(bool(KEY_LOOKUP.match(sql)) for sql in statements)


@pytest.mark.postgresql
@pytest.mark.parametrize("hard", [None, 5000])
def test_one_press_of_render_is_one_lock_and_one_lookup(
    hard: int | None, ready: Job, priya: Membership, client_of: Browser
) -> None:
    if hard:
        Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(hard))
    statements = press_render(client_of(priya), ready, uuid.uuid4())
    assert Charge.objects.count() == 1
    assert count_locks_and_lookups(statements) == (1, 1)


def test_the_same_press_again_is_one_lookup(
    ready: Job, priya: Membership, client_of: Browser
) -> None:
    browser, nonce = client_of(priya), uuid.uuid4()
    press_render(browser, ready, nonce)
    assert count_locks_and_lookups(press_render(browser, ready, nonce)) == (1, 1)
    ready.start(timezone.now(), timedelta(seconds=5), DurationClass("ai-visuals", 60))
    assert count_locks_and_lookups(press_render(browser, ready, nonce)) == (0, 1)
    assert Charge.objects.count() == 1
