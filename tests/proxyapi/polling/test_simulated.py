"""The bench's world, small: half an hour of clicks and renders before both kinds of limiter."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from tests.bench.polling import plot, table
from tests.bench.polling.pollers import PortalPoller
from tests.bench.polling.runs import JOBS, POLLER_NAMES, RunResult, round_robin_bound, run_poller
from tests.bench.polling.simulated_service import SimulatedLimiter
from tests.bench.polling.simulation import SimulatedWorld

MINUTES, SEED = 40, 31
Lived = Callable[[str, int], RunResult]
_lived: dict[tuple[str, int], RunResult] = {}


@pytest.fixture
def simulated(store) -> Lived:
    """A world with so many jobs, watched in that way; it is lived once, whoever asks for it."""

    def of(way: str, jobs: int) -> RunResult:
        if (way, jobs) not in _lived:
            _lived[way, jobs] = run_poller(store, way, jobs, MINUTES * 60, SEED)
        return _lived[way, jobs]

    return of


@pytest.mark.parametrize(
    ("way", "jobs"), [("learned", 1), ("learned", 25), ("new", 25), ("four", 10)]
)
def test_nobody_is_refused_and_people_hardly_wait(simulated, way, jobs):
    """pitfall_31: at most 30 in any 60 s, against either window, with four processes."""
    result = simulated(way, jobs)
    assert result.refusals == 0
    assert result.most <= 30
    assert result.late_wait <= 2
    assert result.ratio < (1.25 if jobs == 1 else 1.1)


def test_experience_shortens_the_wait_and_both_beat_the_naive(simulated):
    """pitfall_19."""
    lags = {way: simulated(way, 25).lag for way in ("learned", "new", "naive")}
    assert lags["learned"] < 0.75 * lags["new"]
    assert lags["new"] < lags["naive"]


def test_no_resource_is_asked_twice_within_five_seconds(store, monkeypatch):
    """With four processes that tick at once."""
    asked: dict[object, list[float]] = {}
    ask = SimulatedWorld.send_request

    def noted(self, job, then=lambda: None):
        if job is not None:
            asked.setdefault(job, []).append(self.now)
        ask(self, job, then)

    monkeypatch.setattr(SimulatedWorld, "send_request", noted)
    SimulatedWorld(
        jobs=3,
        kind="fixed",
        seed=SEED,
        watcher=PortalPoller(store, seed=1, learned=True, processes=4),
    ).run(1800)
    gaps = [later - earlier for times in asked.values() for earlier, later in pairwise(times)]
    assert len(gaps) > 100
    assert min(gaps) >= 5 - 1e-9


def test_nobody_starves_among_a_hundred(store):
    """The longest that any job goes without a look, with ten times as many as can be served."""
    world = SimulatedWorld(
        jobs=100, kind="sliding", seed=SEED, watcher=PortalPoller(store, seed=1, learned=True)
    )
    world.run(2400)
    assert max(world.now - job.seen for job in world.jobs) < 20 * 60


@pytest.mark.parametrize("kind", ["fixed", "sliding"])
def test_the_simulated_limiter_lets_thirty_in(kind):
    limiter = SimulatedLimiter(kind)
    assert [limiter.admit(at).allowed for at in range(32)] == [True] * 30 + [False] * 2
    assert limiter.admit(60.5).allowed
    assert limiter.admit(61.5).left == (28 if kind == "fixed" else 0)


def result(jobs: int, way: str, lag: float, **more: int) -> RunResult:
    return RunResult(jobs, way, more.get("refusals", 0), lag, 1000, 0.0, 0.2, 22.0, 30)


def test_the_table_says_what_falls_short():
    of = {way: result(10, way, 0.5 * round_robin_bound(10)) for way in POLLER_NAMES}
    assert table.missed_figures(of) == []
    of["learned"] = result(10, "learned", 0.6 * round_robin_bound(10))
    of["new"] = result(10, "new", 6, refusals=2)
    assert table.missed_figures(of) == ["learned 0.600", "new 2 refused, 30 in 60 s"]
    assert table.table_cells(of)[-1].startswith("FALLS SHORT")


def test_the_plot_is_one_picture_for_light_and_dark(tmp_path):
    plot.write_plot(
        [result(jobs, way, round_robin_bound(jobs)) for jobs in JOBS for way in POLLER_NAMES],
        tmp_path / "a.svg",
    )
    drawn = (tmp_path / "a.svg").read_text()
    assert drawn.count("<polyline") == 5
    assert "prefers-color-scheme: dark" in drawn
