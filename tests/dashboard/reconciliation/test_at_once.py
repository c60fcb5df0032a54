"""Two people who decide at once: the account is locked before anything else of it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from dashboard.actions import books
from proxyapi.models import LedgerConflict, LedgerEntry
from proxyapi.refusals import StaleData
from tests.rings import beside


def gone(account, position):
    return LedgerConflict.objects.create(account=account, position=position, before={})


def test_the_account_is_locked_before_its_rewrites(thea, account, book):
    book(-96)
    rewrite = gone(account, 0)
    with CaptureQueriesContext(connection) as asked:
        books.take_version(by=thea, rewrite=rewrite)
    first = next(query["sql"] for query in asked if "FROM" in query["sql"])
    assert 'FROM "proxyapi_account"' in first
    assert connection.vendor == "sqlite" or "FOR NO KEY UPDATE" in first


@pytest.mark.django_db(transaction=True)
def test_two_who_take_two_rows_at_once_do_not_wait_in_a_ring(thea, mira, account, book):
    """The first row takes the second along, which somebody else is just taking."""
    with transaction.atomic():
        for amount in (-96, -42):
            book(amount)
    first, second = gone(account, 0), gone(account, 1)

    def take_second():
        with suppress(StaleData):
            books.take_version(by=mira, rewrite=second)

    beside(account, take_second, lambda: books.take_version(by=thea, rewrite=first))
    assert not LedgerEntry.objects.filter(account=account).exists()
