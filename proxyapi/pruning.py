"""Delete old rows in batches, so that nobody who writes to the table waits for long.

What is kept how long: docs/reference/retention.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet

DELETED_AT_ONCE = 1000  # rows


def delete_in_batches(
    old: QuerySet[Any],
    *,
    size: int | None = None,
    delete: Callable[[QuerySet[Any]], object] = QuerySet.delete,
) -> int:
    """Delete the rows and what hangs on them, `size` (`DELETED_AT_ONCE`) at a time, each batch in a
    transaction of its own; return how many rows of `old` there were.

    Rows that others add meanwhile are deleted too if `old` selects them. Its order is that of the
    deletion; with an index for it a batch does not read those that stay. To be called outside a
    transaction. A second run at the same time deletes what is left.
    """
    deleted = 0
    size = size or DELETED_AT_ONCE
    while ids := list(old.values_list("pk", flat=True)[:size]):
        delete(old.model._base_manager.filter(pk__in=ids))
        deleted += len(ids)
    return deleted
