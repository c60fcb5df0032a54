"""However a view lags over rows that are equal, all of them are attributed right in the end."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings, strategies

from proxyapi import ledger
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from tests.examples import examples
from tests.proxyapi.ledger.conftest import LEDGER_START, ScriptedLedger, ledger_row, set_page_size
from tests.proxyapi.ledger.test_mirror_properties import start_anew


class LagStep(NamedTuple):
    """What happens between two readings: rows of one second, of the web or not, of which the view
    shows so much more, and time passes."""

    web: list[bool]
    shown: float  # share of what it hides yet
    seconds: int


STEPS = strategies.lists(
    strategies.builds(
        LagStep,
        web=strategies.lists(strategies.booleans(), max_size=6),
        shown=strategies.sampled_from([0.0, 0.5, 1.0]),
        seconds=strategies.sampled_from([0, 1, 10, 35]),
    ),
    min_size=2,
    max_size=8,
)
REPEATED = settings(
    max_examples=examples(5, 10), suppress_health_check=[HealthCheck.function_scoped_fixture]
)


# The second of two equal rows is hidden yet: which of them is the first is not known from above.
@example(is_known=False, size=50, steps=[LagStep([False], 0.0, 0), LagStep([False], 0.5, 0)])
# A second with more rows than a page.
@example(
    is_known=False,
    size=3,
    steps=[
        LagStep([True, True, True, False, False, False], 0.5, 0),
        LagStep([], 0.0, 0),
        LagStep([], 0.0, 0),
        LagStep([False], 0.0, 0),
    ],
)
@REPEATED
@given(
    is_known=strategies.booleans(),
    size=strategies.sampled_from([3, 5, 50]),
    steps=STEPS,
)
def test_rows_that_a_late_view_hid_are_attributed_when_they_are_shown(
    account: Account,
    scripted_ledger: ScriptedLedger,
    monkeypatch: pytest.MonkeyPatch,
    is_known: bool,
    size: int,
    steps: list[LagStep],
) -> None:
    """At once, or where it did not fit, as soon as it is tried again."""
    now = LEDGER_START + timedelta(hours=1)
    set_page_size(monkeypatch, size)
    monkeypatch.setattr(timezone, "now", lambda: now)
    start_anew(scripted_ledger, ["-1"] * is_known)
    ledger.mirror_entries(account)
    shown = int(is_known)
    for step in steps:
        for is_web in step.web:
            scripted_ledger.add_row(
                ledger_row(-4, (now - LEDGER_START).total_seconds() / 60), web=is_web
            )
        own = [row for at, row in enumerate(scripted_ledger.rows) if at not in scripted_ledger.web]
        shown += round(step.shown * (len(own) - shown))
        scripted_ledger.view = own[:shown]
        ledger.mirror_entries(account)
        now += timedelta(seconds=step.seconds)
    scripted_ledger.view = None
    # A later row corrects what was believed of a view that was too late.
    scripted_ledger.add_row(ledger_row(-1, (now - LEDGER_START).total_seconds() / 60))
    for _ in range(6):
        now += timedelta(minutes=1)
        ledger.mirror_entries(account)
    assert LedgerMirror.objects.get().api_problem == ""
    told = LedgerEntry.objects.values_list("booked_at", "via_api")
    assert Counter(told) == Counter(
        (row["created_at"], at not in scripted_ledger.web)
        for at, row in enumerate(scripted_ledger.rows)
    )
