"""Workers at once, and workers that die anywhere: each topic of a series is in one batch."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.models import Batch, BatchRow, Series
from dashboard.series.actions import run_series
from tests.dashboard.series.conftest import LAKES, make_series, start

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 4


class WorkerKilled(BaseException):
    """Nobody catches it, as nobody catches a kill."""


def test_workers_at_once_start_one_batch(history, priya):
    series = start(priya, make_series(priya, *LAKES))
    Series.objects.update(next_at=timezone.now())
    begin = Barrier(WORKERS)

    def run() -> None:
        begin.wait(120)
        try:
            run_series(series.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(run) for _ in range(WORKERS)]:
            done.result()
    assert Batch.objects.get().rows.count() == 3
    series.refresh_from_db()
    assert (series.topic_lines, series.is_running) == (LAKES[3:], True)


def test_a_worker_that_dies_at_any_query_loses_and_repeats_no_topic(history, priya):
    series = start(priya, make_series(priya, *LAKES, count=2))
    Series.objects.update(next_at=timezone.now())
    kills, at_query, count = 0, 1, 0

    def count_or_die(execute, sql, params, many, context):
        nonlocal count
        count += 1
        if count == at_query:
            raise WorkerKilled
        return execute(sql, params, many, context)

    while not Batch.objects.exists():
        assert (Series.objects.get().topic_lines, at_query < 400) == (LAKES, True)
        count = 0
        try:
            with connection.execute_wrapper(count_or_die):
                run_series(series.pk)
        except WorkerKilled:
            kills += 1
        at_query += 3
    assert kills > 10
    assert [row.cells[0] for row in BatchRow.objects.all()] == LAKES[:2]
    assert Series.objects.get().topic_lines == LAKES[2:]
