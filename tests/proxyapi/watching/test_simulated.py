"""The bench's world, small: half an hour of clicks and renders before both kinds of limiter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.bench.watching import plot, table
from tests.bench.watching.runs import JOBS, WAYS, Result, bound, run
from tests.bench.watching.service import Limiter
from tests.bench.watching.watchers import Ours
from tests.bench.watching.world import World

MINUTES, SEED = 40, 31
Lived = Callable[[str, int], Result]
_lived: dict[tuple[str, int], Result] = {}


@pytest.fixture
def lived(store) -> Lived:
    """A world with so many jobs, watched in that way; it is lived once, whoever asks for it."""

    def of(way: str, jobs: int) -> Result:
        if (way, jobs) not in _lived:
            _lived[way, jobs] = run(store, way, jobs, MINUTES * 60, SEED)
        return _lived[way, jobs]

    return of


@pytest.mark.parametrize("jobs", [1, 10, 25])
@pytest.mark.parametrize("way", ["learned", "new", "four"])
def test_b1_b2_nobody_is_refused_and_people_hardly_wait(lived, way, jobs):
    """B1, B2, pitfall_31: at most 30 in any 60 s, against either window, with four processes."""
    result = lived(way, jobs)
    assert result.refusals == 0
    assert result.most <= 30
    assert result.late_wait <= 2
    assert result.ratio < (1.25 if jobs == 1 else 1.1)


def test_experience_shortens_the_wait_and_both_beat_the_naive(lived):
    """pitfall_19."""
    lags = {way: lived(way, 25).lag for way in ("learned", "new", "naive")}
    assert lags["learned"] < 0.75 * lags["new"]
    assert lags["new"] < lags["naive"]


def test_no_resource_is_asked_twice_within_five_seconds(store, monkeypatch):
    """With four processes that tick at once."""
    asked: dict[object, list[float]] = {}
    ask = World.ask

    def noted(self, job, then=lambda: None):
        if job is not None:
            asked.setdefault(job, []).append(self.now)
        ask(self, job, then)

    monkeypatch.setattr(World, "ask", noted)
    World(
        jobs=3, kind="fixed", seed=SEED, watcher=Ours(store, seed=1, learned=True, processes=4)
    ).run(1800)
    gaps = [later - earlier for times in asked.values() for earlier, later in pairwise(times)]
    assert len(gaps) > 100
    assert min(gaps) >= 5 - 1e-9


def test_nobody_starves_among_a_hundred(store):
    """The longest that any job goes without a look, with ten times as many as can be served."""
    world = World(jobs=100, kind="sliding", seed=SEED, watcher=Ours(store, seed=1, learned=True))
    world.run(2400)
    assert max(world.now - job.seen for job in world.jobs) < 20 * 60


@pytest.mark.parametrize("kind", ["fixed", "sliding"])
def test_the_simulated_limiter_lets_thirty_in(kind):
    limiter = Limiter(kind)
    assert [limiter.take(at).allowed for at in range(32)] == [True] * 30 + [False] * 2
    assert limiter.take(60.5).allowed
    assert limiter.take(61.5).left == (28 if kind == "fixed" else 0)


def result(jobs: int, way: str, lag: float, **more: int) -> Result:
    return Result(jobs, way, more.get("refusals", 0), lag, 1000, 0.0, 0.2, 22.0, 30)


def test_the_table_says_what_falls_short():
    of = {way: result(10, way, 0.5 * bound(10)) for way in WAYS}
    assert table.missing(of) == []
    of["learned"] = result(10, "learned", 0.6 * bound(10))
    of["new"] = result(10, "new", 6, refusals=2)
    assert table.missing(of) == ["learned 0.600", "new 2 refused, 30 in 60 s"]
    assert table.cells(of)[-1].startswith("FALLS SHORT")


def test_the_plot_is_one_picture_for_light_and_dark(tmp_path):
    plot.write(
        [result(jobs, way, bound(jobs)) for jobs in JOBS for way in WAYS], tmp_path / "a.svg"
    )
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.count("<polyline") == 5
    assert "prefers-color-scheme: dark" in drawn
