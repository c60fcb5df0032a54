"""The mean lag over the number of jobs, drawn as an SVG that reads in light and in dark."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import log10
from pathlib import Path

from tests.bench.polling.runs import JOBS, RunResult, round_robin_bound

WIDTH, HEIGHT = 720, 420
LEFT, RIGHT, TOP, BOTTOM = 64, 560, 40, 360
MIN_LABEL_GAP_PX = 17.0  # between two names
TICKS = (2, 5, 10, 20, 50, 100, 200, 500)
LINES = {
    "naive": ("naive, every 5 s", "2 4"),
    "serial": ("one after the other", "8 4"),
    "bound": ("bound, 22 a minute", "1 0"),
    "new": ("ours, new", "12 3 2 3"),
    "learned": ("ours, learned", "1 0"),
}
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #3b4252; }
  .title { font-size: 15px; font-weight: 600; }
  .axis { stroke: #9aa3b2; stroke-width: 1; }
  .grid { stroke: #9aa3b2; stroke-opacity: .3; stroke-width: 1; }
  polyline { fill: none; stroke-width: 2.5; }
  .naive, .serial { stroke: #8a6d3b; } .bound { stroke: #7b8494; }
  .new { stroke: #3767c9; } .learned { stroke: #3767c9; stroke-width: 3.5; }
  @media (prefers-color-scheme: dark) {
    text { fill: #d8dee9; }
    .naive, .serial { stroke: #d9b26a; } .bound { stroke: #a3acbd; }
    .new, .learned { stroke: #8db4ff; }
  }
"""


def write_plot(results: Sequence[RunResult], path: Path) -> None:
    path.write_text("\n".join(render_plot(results)) + "\n", encoding="utf-8")


def render_plot(results: Sequence[RunResult]) -> Iterator[str]:
    lags = {
        name: [(result.jobs, result.lag) for result in results if result.way == name]
        for name in LINES
    }
    lags["bound"] = [(jobs, round_robin_bound(jobs)) for jobs in JOBS]
    yield f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">'
    yield "<title>Seconds until a finished job is known, by the number of jobs on one token</title>"
    yield f"<style>{STYLE}</style>"
    yield f'<text class="title" x="{LEFT}" y="22">Mean seconds until a finished job is known</text>'
    yield from render_axes()
    places = place_labels({name: y_of_seconds(points[-1][1]) for name, points in lags.items()})
    for name, points in lags.items():
        yield from render_line(name, points, places[name])
    yield "</svg>"


def place_labels(ends: dict[str, float]) -> dict[str, float]:
    """Where the names stand: beside the ends of their lines, but never upon each other."""
    places: dict[str, float] = {}
    lowest = -MIN_LABEL_GAP_PX
    for name, end in sorted(ends.items(), key=lambda item: item[1]):
        lowest = max(end, lowest + MIN_LABEL_GAP_PX)
        places[name] = lowest
    return places


def render_axes() -> Iterator[str]:
    for tick in TICKS:
        y = y_of_seconds(tick)
        yield f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.0f}" y2="{y:.0f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.0f}" text-anchor="end">{tick}</text>'
    for jobs in JOBS:
        at = f'x="{x_of_jobs(jobs):.0f}" y="{BOTTOM + 20}"'
        yield f'<text {at} text-anchor="middle">{jobs}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{RIGHT}" y1="{BOTTOM}" y2="{BOTTOM}"/>'
    middle = (LEFT + RIGHT) / 2
    yield f'<text x="{middle:.0f}" y="{BOTTOM + 42}" text-anchor="middle">jobs on one token</text>'


def render_line(name: str, points: list[tuple[int, float]], label: float) -> Iterator[str]:
    said, dashes = LINES[name]
    places = " ".join(f"{x_of_jobs(jobs):.1f},{y_of_seconds(lag):.1f}" for jobs, lag in points)
    yield f'<polyline class="{name}" stroke-dasharray="{dashes}" points="{places}"/>'
    yield f'<text x="{RIGHT + 10}" y="{label + 4:.0f}">{said}</text>'


def x_of_jobs(jobs: int) -> float:
    return LEFT + 20 + (RIGHT - LEFT - 30) * log10(jobs) / log10(JOBS[-1])


def y_of_seconds(seconds: float) -> float:
    top, bottom = log10(TICKS[-1]), log10(TICKS[0])
    return BOTTOM - (BOTTOM - TOP) * (log10(max(seconds, TICKS[0])) - bottom) / (top - bottom)
