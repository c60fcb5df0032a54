"""What a dry run says is what then comes: credits within 10 %, the end within 20 %.

Random batches of forty rows on the sandbox, in its time: the portal follows its clock, and does at
each step what its beat and workers do. The team has learned from one batch before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dashboard import tasks as dashboard_tasks
from dashboard.batches.dry_run import load_dry_run
from dashboard.batches.runner import load_used_credits
from dashboard.celery import app
from dashboard.models import Batch, BatchState, Membership
from dashboard.shared import enqueue
from proxyapi import rate_limiter, tasks
from proxyapi.models import Charge, Job, RenderDurations
from tests.drills.batch_team import found_team, start_batch, store_batch
from tests.drills.figures import Figures
from tests.proxyapi.money.in_process_sandbox import (
    InProcessSandbox,
    in_process_sandbox,
    sandbox_with_account,
)
from tests.proxyapi.money.sandbox_account import SandboxAccount

BATCHES = int(os.environ.get("DRILL_ESTIMATE_BATCHES", "5"))
ROWS, LEARNED_ROWS = 40, 24
LENGTHS = (30, 60, 180, 300)  # seconds
SECONDS = {"render_seconds": 90, "render_seconds_per_minute": 60}  # of the sandbox's renders
STEP_S = 5.0  # of the sandbox’s clock; the real beat sweeps as often
MAX_STEPS = 40_000
COST_WITHIN, END_WITHIN = 0.10, 0.20


@pytest.fixture
def world(
    transactional_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[InProcessSandbox]:
    """Tasks run where they are enqueued; those of the dashboard wait for a sweep."""
    monkeypatch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)
    monkeypatch.setattr(app.conf, "task_always_eager", True)
    monkeypatch.setattr(tasks, "_enqueue", lambda task, id: task.apply((id,)))
    monkeypatch.setattr(enqueue, "_enqueue", lambda name, id: None)
    with in_process_sandbox(tmp_path, monkeypatch, settings) as made:
        yield made


def test_the_dry_run_says_what_is_booked_and_when_it_ends(world: InProcessSandbox) -> None:
    figures = Figures(f"{BATCHES} batches of {ROWS} rows")
    chance = Random(figures.seed)  # noqa: S311
    with sandbox_with_account(world, SECONDS, credits=10**7) as stage:
        by = found_team(stage.token, 20, 22, 24)
        learn_from_batch(world, by, chance)
        for number in range(1, BATCHES + 1):
            batch = store_batch(by, draw_rows(chance, ROWS, number), at_once=chance.randint(1, 4))
            compare(figures, world, stage, by, batch)
    figures.close()


def draw_rows(chance: Random, count: int, number: int) -> list[tuple[Any, ...]]:
    return [
        (f"Lake {number}.{row}", f"Why is lake {number}.{row} deep?", chance.choice(LENGTHS))
        for row in range(count)
    ]


def learn_from_batch(world: InProcessSandbox, by: Membership, chance: Random) -> None:
    """Render films of each length; nothing is left of the prices and times that were invented."""
    invented = list(Job.objects.values_list("pk", flat=True))
    batch = store_batch(by, draw_rows(chance, LEARNED_ROWS, 0), at_once=4)
    RenderDurations.objects.all().delete()
    start_batch(by, batch)
    run_to_end(world, batch)
    Charge.objects.filter(job__in=invented).update(cost=0)  # no price is compared with it


def compare(
    figures: Figures, world: InProcessSandbox, stage: SandboxAccount, by: Membership, batch: Batch
) -> None:
    run = load_dry_run(by, batch, list(batch.rows.all()))
    said_s, spent_before = run.duration_s(batch.at_once), stage.spent_credits()
    assert said_s, "the length of a row is not known"
    said = start_batch(by, batch)
    run_to_end(world, batch)
    booked = sum(load_used_credits([batch], only_spent=True).values(), Decimal(0))
    assert booked == stage.spent_credits() - spent_before
    assert batch.started_at
    took_s = (batch.state_since - batch.started_at).total_seconds()
    cost_off, end_off = float(said / booked - 1), said_s / took_s - 1
    figures.report(
        f"{batch.at_once} at once: {said:f} cr said, {booked:f} booked ({cost_off:+.1%}; "
        f"{run.total.low:f} to {run.total.high:f})",
        f"within {COST_WITHIN:.0%}",
        holds=abs(cost_off) <= COST_WITHIN,
    )
    figures.report(
        f"{batch.at_once} at once: {said_s / 60:.0f} min said, {took_s / 60:.0f} min taken "
        f"({end_off:+.1%})",
        f"within {END_WITHIN:.0%}",
        holds=abs(end_off) <= END_WITHIN,
    )


def run_to_end(world: InProcessSandbox, batch: Batch) -> None:
    """Do what beat and workers do, step by step."""
    for _ in range(MAX_STEPS):
        world.clock.advance(STEP_S)
        tasks.tick()
        dashboard_tasks.sweep_batches()
        dashboard_tasks.sweep_planned_renders()
        batch.refresh_from_db()
        assert batch.state in (BatchState.RUNNING, BatchState.FINISHED), batch.pause_reason
        if batch.state == BatchState.FINISHED:
            break
    states = set(batch.rows.values_list("state", "reason"))
    assert states == {("done", "")}, states
