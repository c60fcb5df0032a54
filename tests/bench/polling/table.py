"""The figures as a Markdown table, and what is wanted of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.bench.polling.runs import MIN_LAG_S, RunResult

HEADS = (
    "jobs", "bound, s", "floor, s", "ours learned", "ours new", "four processes", "naive", "serial",
    "by chance, ±", "429s: ours · naive · serial", "a person waits p50 · p95, s",
    "looks/min", "wanted", "",
)  # fmt: skip
LEARNED_AT = {10: 0.55, 25: 0.55}
NEW, PATIENCE, LIMIT = 1.0, 1.0, 30
LEGEND = """
Mean seconds until a finished job is known, and in brackets their ratio to the bound of a round
robin with 22 looks a minute, max(5, 60 n / 22) / 2. `ours learned` knows 64 durations of each sort
of render, `ours new` none and learns none, `four processes` tick at once and know as much. `naive`
asks for every job every 5 s, `serial` for one after the other, 2 s apart, and waits as a 429
tells. n jobs at most at a time, each followed by another after 30 s on average (Poisson); four
sorts of render with medians of 80, 150, 270 and 500 s, log-normal with σ = 0.25, every 33rd takes
twice as long. Three people do something every 90 s on average, of one to three requests. Answers
take 0.04 to 0.24 s, which the bound leaves out. Half of each row is before a limiter of fixed
minutes, half before a sliding one. `by chance` is the standard error of the ratio of `ours
learned`.

Known is what an answer has told: the time runs from the end of a render to the arrival of the
answer. The floor is what looks exactly 5 s apart, sending to sending, come to: 2.50 s until the
next look, because ends are spread evenly over 5 s (the narrowest sort of render has a standard
deviation of 20 s), and 0.07 s of the answer's way. To look later, so as to look just after a likely
end, helps from a standard deviation below 2 s on. With one job the bound lies below the floor: only
chance gets there.
"""


def table_lines(results: Sequence[RunResult], seed: int, hours: dict[int, float]) -> Iterator[str]:
    yield f"| {' | '.join(HEADS)} |"
    yield f"| {' | '.join(['---'] * len(HEADS))} |"
    for jobs in sorted({result.jobs for result in results}):
        of = {result.way: result for result in results if result.jobs == jobs}
        yield f"| {' | '.join(table_cells(of))} |"
    simulated = ", ".join(f"{hour:.1f} for {jobs}" for jobs, hour in hours.items())
    yield f"\nSeed {seed} (BENCH_SEED={seed} repeats it)."
    yield f"Hours simulated each way before each limiter, by jobs: {simulated}."
    yield LEGEND


def table_cells(of: dict[str, RunResult]) -> list[str]:
    learned = of["learned"]
    ways = ("learned", "new", "four", "naive", "serial")
    ours = sum(of[way].refusals for way in ("learned", "new", "four"))
    missed = missed_figures(of)
    return [
        str(learned.jobs),
        f"{learned.bound:.1f}",
        f"{MIN_LAG_S:.2f} ({MIN_LAG_S / learned.bound:.2f})",
        *(f"{of[way].lag:.1f} ({of[way].ratio:.2f})" for way in ways),
        f"{learned.chance / learned.bound:.3f}",
        f"{ours} · {of['naive'].refusals} · {of['serial'].refusals}",
        f"{format_wait(learned)}, four {format_wait(of['four'])}",
        f"{learned.looks_a_minute:.0f}",
        wanted_figures(learned.jobs),
        "ok" if not missed else f"FALLS SHORT: {', '.join(missed)}",
    ]


def format_wait(result: RunResult) -> str:
    return f"{result.median_wait:.1f} · {result.late_wait:.1f}"


def wanted_figures(jobs: int) -> str:
    learned = f", learned ≤ {LEARNED_AT[jobs]}" if jobs in LEARNED_AT else ""
    return f"new ≤ {NEW}{learned}, 429s 0, p95 ≤ {PATIENCE:.0f}"


def missed_figures(of: dict[str, RunResult]) -> list[str]:
    """Which figures are not what is wanted. Four processes have the bounds of one."""
    short = []
    jobs = of["learned"].jobs
    for way in ("learned", "new", "four"):
        result, most = of[way], NEW if way == "new" else LEARNED_AT.get(jobs, NEW)
        if result.ratio > most:
            short.append(f"{way} {result.ratio:.3f}")
        if result.refusals or result.most > LIMIT:
            short.append(f"{way} {result.refusals} refused, {result.most} in 60 s")
        if result.late_wait > PATIENCE:
            short.append(f"{way} p95 {result.late_wait:.1f} s")
    return short
