"""Two people who decide at once: the account is locked before anything else of it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from dashboard.reconciliation import actions
from proxyapi.models import LedgerConflict, LedgerEntry
from proxyapi.refusals import StaleData
from tests.deadlocks import run_beside

pytestmark = pytest.mark.postgresql


def gone(account, position):
    return LedgerConflict.objects.create(account=account, position=position, before={})


def test_the_account_is_locked_before_its_conflicts(thea, account, add_entry):
    add_entry(-96)
    rewrite = gone(account, 0)
    with CaptureQueriesContext(connection) as asked:
        actions.accept_ledger_conflict(by=thea, conflict=rewrite)
    first = next(query["sql"] for query in asked if "FROM" in query["sql"])
    assert 'FROM "proxyapi_account"' in first
    assert connection.vendor == "sqlite" or "FOR NO KEY UPDATE" in first


@pytest.mark.django_db(transaction=True)
def test_two_who_accept_two_rows_at_once_do_not_deadlock(thea, mira, account, add_entry):
    """The first row takes the second along, which somebody else is just taking."""
    with transaction.atomic():
        for amount in (-96, -42):
            add_entry(amount)
    first, second = gone(account, 0), gone(account, 1)

    def take_second():
        with suppress(StaleData):
            actions.accept_ledger_conflict(by=mira, conflict=second)

    run_beside(
        account, take_second, lambda: actions.accept_ledger_conflict(by=thea, conflict=first)
    )
    assert not LedgerEntry.objects.filter(account=account).exists()
