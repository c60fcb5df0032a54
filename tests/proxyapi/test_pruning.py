"""Old rows go in batches, each by itself, and nothing else goes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from proxyapi.models import ServiceQuarter
from proxyapi.pruning import delete_in_batches
from tests.factories import TenantFactory

NOW = timezone.now()


def add_quarters(count: int) -> None:
    tenant = TenantFactory.create()
    rows = (
        ServiceQuarter(
            tenant=tenant, starts_at=NOW - timedelta(days=1, hours=age), answered=1, unanswered=0
        )
        for age in range(count)
    )
    ServiceQuarter.objects.bulk_create(rows)


@pytest.mark.django_db(transaction=True)
def test_each_batch_is_a_transaction_of_its_own() -> None:
    """What is deleted stays deleted when a later batch fails, and is not deleted again."""
    add_quarters(7)
    oldest_first = ServiceQuarter.objects.order_by("starts_at")
    batches: list[list[Any]] = []

    def delete(batch: Any) -> None:
        if len(batches) == 2:
            raise RuntimeError
        batches.append(sorted(row.pk for row in batch))
        assert not connection.in_atomic_block
        batch.delete()

    expected = list(oldest_first.values_list("pk", flat=True))
    with pytest.raises(RuntimeError):
        delete_in_batches(oldest_first, size=3, delete=delete)
    assert batches == [sorted(expected[:3]), sorted(expected[3:6])]
    assert list(oldest_first.values_list("pk", flat=True)) == expected[6:]


@pytest.mark.django_db
@pytest.mark.parametrize(("size", "statements"), [(2, 3), (5, 1), (None, 1)])
def test_only_what_is_selected_goes(
    size: int | None, statements: int, django_assert_num_queries: Any
) -> None:
    add_quarters(9)
    old = ServiceQuarter.objects.filter(starts_at__lte=NOW - timedelta(days=1, hours=4))
    reads = statements + 1  # the last one finds nothing
    with django_assert_num_queries(reads + statements):
        assert delete_in_batches(old, size=size) == 5
    assert ServiceQuarter.objects.count() == 4
    assert delete_in_batches(old, size=size) == 0
