"""Every charging operation × 10 requests that arrive late, at once to its longest time later, on
each database; and four of each that arrive later than that, up to an hour.

The clock is simulated. `DRILL_OPERATIONS` names some of the operations.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from proxyapi.operations import get_operation as row_of
from tests.drills.figures import Figures
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox
from tests.proxyapi.money.late_arrivals import (
    DELAYS,
    LateArrivals,
    arrive_in_time,
    arrive_too_late,
    draw_delays,
)
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.settings import ON_POSTGRES

ONLY = os.environ.get("DRILL_OPERATIONS", "")
NAMES = ONLY.split(",") if ONLY else list(INTENT_MAKERS)
DATABASE = "PostgreSQL" if ON_POSTGRES else "SQLite"
# Seconds after the longest time: within the time to book, when nothing was said yet, and after it.
BOOKING, TOO_LATE = (1, 2), (61, 600, 3400)
LONGEST_WAIT = 300.0  # seconds


@pytest.mark.django_db(transaction=True)
def test_no_request_that_arrives_late_is_paid_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    figures, found = Figures(f"late arrivals, {DATABASE} (simulated time)"), LateArrivals()
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        for operation in NAMES:
            arrive_in_time(sandbox, operation, draw_delays(operation), found)
    of = f"of {found.requests} requests that arrived within the longest time"
    wanted = len(NAMES) * DELAYS
    figures.report(f"{found.requests} late requests", f"{wanted}", holds=found.requests == wanted)
    for name, problems in (
        ("paid twice", found.twice),
        ('false "never charged"', found.false_uncharged),
        ("not explained", found.wrong),
    ):
        told = f"{len(problems)} {name} {of}"
        figures.report(told, "0", holds=not problems, found=problems)
    figures.close()


@pytest.mark.django_db(transaction=True)
def test_what_arrives_later_than_any_request_does_is_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    figures, found = Figures(f"arrivals too late, {DATABASE} (simulated time)"), LateArrivals()
    with in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox:
        for number, operation in enumerate(NAMES):
            longest = row_of(operation).max_duration_s
            arrive_in_time(sandbox, operation, [longest + seconds for seconds in BOOKING], found)
            for again in (True, False):
                delay = longest + TOO_LATE[(number + again) % len(TOO_LATE)]
                arrive_too_late(sandbox, operation, delay, found, again=again)
    problems = [*found.wrong, *found.twice, *found.false_uncharged]
    figures.report(
        f"{len(problems)} of {found.requests} without a charge, a cost or an alert of their own; "
        f"{found.matched_late} matched as probably one’s own",
        "0, and more than none",
        holds=not problems and found.matched_late > 0,
        found=problems,
    )
    figures.report(
        f'"never charged" {found.longest_wait:.0f} s after the press at the latest',
        f"{LONGEST_WAIT:.0f} s",
        holds=0 < found.longest_wait <= LONGEST_WAIT,
    )
    figures.close()
