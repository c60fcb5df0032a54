"""Workers and web processes are killed at any point while batches run: each row is sent once.

The sandbox's own books are the judge: of each film that a row made there, at most one script was
charged, and one render of all that the row tried. A row whose script was lost is retried, as a
person does. In lanes: most of a run is waiting.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from random import Random
from typing import Any

import httpx
from django.db import connection
from django.utils import timezone

from dashboard.batches import actions
from dashboard.celery import app
from dashboard.models import Batch, BatchRow, BatchRowState, BatchState, Membership
from proxyapi.failpoints import FAILPOINTS
from proxyapi.models import Charge, ChargeState, Draft, Job, JobState
from tests.drills.batch_team import found_team, retry_failed, store_batch
from tests.drills.charging.worker_control import WorkerControl, running_process_factory
from tests.drills.figures import Figures
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount, open_sandbox_account

KILLS = int(os.environ.get("DRILL_BATCH_KILLS", "100"))  # on each database
LANES = int(os.environ.get("DRILL_LANES", "3"))
ROWS, WORKERS, KILLS_OF_BATCH = 12, 2, 10
LEASE = timedelta(seconds=1)  # instead of 25 s, until a beat rings again for what a worker lost
BEATS = tuple(f"proxyapi.tasks.{name}" for name in ("tick",))
BEATS += tuple(f"dashboard.tasks.{name}" for name in ("sweep_batches", "sweep_planned_renders"))
BEAT_EVERY_S, ENDS_WITHIN_S, STARTS_WITHIN_S = 0.5, 600.0, 60.0
WRONG = ("sent twice", "lost", "without an end", "above the limit")


@dataclass
class BatchKills:
    """What was done, and what went wrong, by kind."""

    kills: int = 0
    batches: int = 0
    rows: int = 0
    retried: int = 0
    pauses: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    wrong: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in WRONG})


class BatchWorkers:
    """The workers of a lane, each of which may be killed and started again, and their beat."""

    def __init__(self, hands: WorkerControl, by: Membership, chance: Random) -> None:
        self.hands, self.by, self.chance = hands, by, chance
        self.workers: list[int] = []
        self.rang_at = 0.0

    def start(self, *, is_armed: bool) -> None:
        point = self.chance.choice(["", *FAILPOINTS]) if is_armed else ""
        self.workers.append(self.hands.start_process("work", point))

    def beat(self) -> None:
        """What the beat does, and what it would find later: what a killed worker had leased."""
        self.hands.wait_for_exit(self.workers[0], self.chance.uniform(0, BEAT_EVERY_S))
        if time.monotonic() - self.rang_at < BEAT_EVERY_S:
            return
        self.rang_at, now = time.monotonic(), timezone.now()
        tenant, soon = self.by.team.tenant_id, now + LEASE
        open_charges = Charge.objects.filter(tenant=tenant).exclude(state__in=FINAL_STATES)
        open_charges.filter(state=ChargeState.HELD, due_at__gt=soon).update(due_at=soon)
        drafts = Draft.objects.filter(job__tenant=tenant, quote_due_at__gt=soon)
        drafts.update(quote_due_at=soon)
        running = Job.objects.filter(tenant=tenant, state=JobState.RUNNING, next_poll_at__gt=soon)
        running.update(next_poll_at=soon)
        for name in BEATS:
            app.send_task(name, queue=self.hands.queue, expires=BEAT_EVERY_S)

    def count_dead(self) -> int:
        """How many died at their failpoints since the last time."""
        dead = [pid for pid in self.workers if self.hands.wait_for_exit(pid, 0.01) is not None]
        self.workers = [pid for pid in self.workers if pid not in dead]
        return len(dead)

    def kill_one(self) -> None:
        self.hands.kill(self.workers.pop(self.chance.randrange(len(self.workers))))

    def kill_all(self) -> None:
        while self.workers:
            self.kill_one()


def test_no_kill_sends_a_row_twice_or_loses_it(
    control: httpx.Client, sandbox: str, faulty_transport: FaultyTransport
) -> None:
    figures, done = Figures("workers and web processes killed during batches"), BatchKills()
    control.post("reset", json={})
    with ThreadPoolExecutor(LANES) as pool:
        lanes = [
            pool.submit(run_lane, control, sandbox, lane, figures.seed, done)
            for lane in range(LANES)
        ]
        for lane in lanes:
            lane.result()
    figures.report(
        f"{done.kills} processes killed during {done.batches} batches of {ROWS} rows "
        f"(a batch ended after {done.slowest_s:.0f} s at most; paused by themselves: "
        f"{dict(done.pauses)}; {done.retried} rows failed and were retried: {dict(done.failures)})",
        f"at least {KILLS} kills",
        holds=done.kills >= KILLS,
    )
    for name, found in done.wrong.items():
        figures.report(
            f"{len(found)} of {done.rows} rows {name}", "0", holds=not found, found=found
        )
    figures.close()


def run_lane(control: httpx.Client, sandbox: str, lane: int, seed: int, done: BatchKills) -> None:
    try:
        with (
            running_process_factory(sandbox, f"batches{lane}") as hands,
            open_sandbox_account(control, empty=False) as stage,
        ):
            by, number = found_team(stage.token, 20, 22, 24), 0
            while done.kills < KILLS:
                number += 1
                chance = Random(f"{seed}/{lane}/{number}")  # noqa: S311
                hands.start_new_queue()
                processes = BatchWorkers(hands, by, chance)
                try:
                    run_batch(processes, stage, f"{lane}.{number}", done)
                finally:
                    processes.kill_all()
    finally:
        connection.close()  # this thread's own


def run_batch(processes: BatchWorkers, stage: SandboxAccount, name: str, done: BatchKills) -> None:
    """One batch, with kills, until all its rows are rendered; then the verdict."""
    began, by, chance = time.monotonic(), processes.by, processes.chance
    rows = [(f"Film {name}.{row}", f"Why is lake {name}.{row} deep?", 60) for row in range(ROWS)]
    batch = store_batch(by, rows, at_once=chance.randint(1, 4))
    done.kills += start_by_killed_web(processes, batch)
    left = KILLS_OF_BATCH
    while is_going_on(batch) and time.monotonic() - began < ENDS_WITHIN_S:
        while len(processes.workers) < WORKERS:
            processes.start(is_armed=left > 0)
        processes.beat()
        died = processes.count_dead()
        if left > 0 and processes.workers and chance.random() < 0.3:
            processes.kill_one()
            died += 1
        left, done.kills = left - died, done.kills + died
        done.retried += go_on(by, batch, done, has_died=left <= 0)
    done.batches, done.rows = done.batches + 1, done.rows + ROWS
    done.slowest_s = max(done.slowest_s, time.monotonic() - began)
    judge(batch, stage, f"batch {name}", done)


def start_by_killed_web(processes: BatchWorkers, batch: Batch) -> int:
    """Start it; how many processes were killed over that. A press that is repeated starts once."""
    kills, hands, began = 0, processes.hands, time.monotonic()
    while Batch.objects.get(pk=batch.pk).is_draft:
        assert time.monotonic() - began < STARTS_WITHIN_S, "it was not started"
        pid = hands.start_process("batch", batch=str(batch.pk))
        if kills < 2 and hands.wait_for_exit(pid, processes.chance.uniform(0, 0.3)) is None:
            hands.kill(pid)
            kills += 1
        hands.wait_for_exit(pid, 5)
    return kills


def is_going_on(batch: Batch) -> bool:
    batch.refresh_from_db()
    failed = batch.rows.filter(state=BatchRowState.FAILED)
    return batch.state != BatchState.FINISHED or failed.exists()


def go_on(by: Membership, batch: Batch, done: BatchKills, *, has_died: bool) -> int:
    """What a person does: resume what paused by itself, retry what failed at the end; how many
    rows were retried."""
    batch.refresh_from_db()
    if batch.state == BatchState.PAUSED:
        done.pauses[batch.pause_reason] += 1
        limits: Any = {"max_credits": batch.max_credits, "max_failures": 0}
        actions.resume_batch(by=by, batch=batch, **limits)
    if batch.state == BatchState.FINISHED and has_died:
        reasons = batch.rows.filter(state=BatchRowState.FAILED).values_list("reason", flat=True)
        done.failures.update(reasons)
        return retry_failed(by, batch) if reasons else 0
    return 0


def judge(batch: Batch, stage: SandboxAccount, what: str, done: BatchKills) -> None:
    """The charges of each row in the sandbox's books, over all that it tried."""
    books, spent = stage.account_money()["charges"], 0.0
    if is_going_on(batch):
        done.wrong["without an end"].append(f"{what}: {batch.state}, {batch.pause_reason}")
    for row in BatchRow.objects.filter(batch=batch).select_related("job"):
        jobs = [*row.earlier_jobs.all(), *([row.job] if row.job else [])]
        charges = [books.get(f"faceless:{job.remote_id}", []) for job in jobs]
        of_row = f"{what}, row {row.number} {row.state} {row.reason}: {charges}"
        features = Counter(charge["feature"] for one in charges for charge in one)
        spent += sum(charge["credits"] for one in charges for charge in one)
        scripts = max((charge_count(one, "content_prompt_requested") for one in charges), default=0)
        if features["faceless_render"] > 1 or scripts > 1:
            done.wrong["sent twice"].append(of_row)
        if not features["faceless_render"]:
            done.wrong["lost"].append(of_row)
    if spent > float(batch.max_credits or 0):
        done.wrong["above the limit"].append(f"{what}: {spent} of {batch.max_credits}")


def charge_count(charges: list[dict[str, object]], feature: str) -> int:
    return sum(charge["feature"] == feature for charge in charges)
