"""The bench's world polled by the portal itself; the full figures are in `make bench`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from proxyapi import redis_client
from proxyapi.models import Job, JobState, RenderDurations
from proxyapi.polling.poller import run_age_s
from tests.bench.polling.database_rows import DatabasePoller
from tests.bench.polling.simulation import SimulatedWorld

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
MINUTES, JOBS, SEED = 8, 8, 31


@pytest.fixture
def watcher() -> Iterator[DatabasePoller]:
    patch = pytest.MonkeyPatch()
    yield DatabasePoller(patch, redis_client.connect_redis(), SEED)
    patch.undo()


def test_what_it_learns_lies_between_the_two_polls_around_the_end(watcher: DatabasePoller) -> None:
    """And nobody is refused. Each length has its own experience."""
    tally = SimulatedWorld(jobs=JOBS, kind="sliding", seed=SEED, watcher=watcher).run(MINUTES * 60)
    assert tally.refusals == 0
    learned = {pace.length: list(pace.seconds) for pace in RenderDurations.objects.all()}
    assert sum(map(len, learned.values())) > 4
    for row in Job.objects.filter(state=JobState.COMPLETED).order_by("finished_at"):
        assert row.polled_at is not None
        assert row.finished_at is not None
        running, ended = run_age_s(row, row.polled_at), run_age_s(row, row.finished_at)
        assert running <= watcher.render_seconds(row.pk) <= ended
        assert running <= learned[row.length].pop(0) <= ended
    assert not any(learned.values())
