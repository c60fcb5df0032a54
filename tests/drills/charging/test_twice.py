"""a3, a4: a message that comes twice, and a form that is sent fifty times at once, are one POST.

Half of the thousand messages and of the hundred forms on SQLite, half on PostgreSQL.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from decimal import Decimal
from random import Random
from uuid import uuid4

import httpx
import pytest
from django.db import connection

from dashboard.actions import studio
from dashboard.models import Membership
from proxyapi import tasks
from proxyapi.charges import admit_charge, dispatch_charge
from proxyapi.models import Charge, ChargeState, Job
from proxyapi.refusals import Refusal
from tests.drills.charging.hands import Hands, foundry
from tests.drills.figures import Figures
from tests.factories import MembershipFactory, TeamFactory
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.stage import Stage, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire

MESSAGES = int(os.environ.get("DRILL_MESSAGES", "500"))
FORMS, PRESSES = int(os.environ.get("DRILL_FORMS", "50")), 50


@pytest.fixture
def stage(control: httpx.Client, wire: Wire) -> Iterator[Stage]:
    with opened(control) as stage:
        yield stage


@pytest.fixture
def hands(sandbox: str) -> Iterator[Hands]:
    with foundry(sandbox) as hands:
        yield hands


def test_a_message_that_two_workers_get_is_sent_once(stage: Stage, hands: Hands) -> None:
    figures, verdict = Figures("messages delivered twice"), Verdict()
    charges = [admit_charge(OPERATIONS["text_to_video.create"](stage)) for _ in range(MESSAGES)]
    before = stage.posts("/text-to-video")
    # Side by side, so that both workers have one of them at the same time.
    Random(figures.seed).shuffle(charges)  # noqa: S311
    ids = [str(charge.pk) for charge in charges for _ in range(2)]
    with hands.worker(), hands.worker():
        for charge_id in ids:
            tasks.dispatch_charge_task.delay(charge_id)
        until = time.monotonic() + 600
        while Charge.objects.holding().exists() and time.monotonic() < until:
            threading.Event().wait(0.2)
    posts = stage.posts("/text-to-video") - before
    confirmed = Charge.objects.filter(state=ChargeState.CONFIRMED).count()
    verdict.weigh(stage, "a message twice")
    figures.tell(
        f"{posts} requests for {len(ids)} messages of {MESSAGES} charges, {confirmed} confirmed",
        f"{MESSAGES} of each",
        holds=posts == confirmed == MESSAGES,
    )
    figures.tell(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


def test_fifty_presses_of_one_form_are_one_render(stage: Stage) -> None:
    figures, verdict = Figures("one form, fifty presses at once"), Verdict()
    priya = MembershipFactory(team=TeamFactory(vault=stage.token.vault), user=stage.token.owner)
    wrong = []
    for _ in range(FORMS):
        job = priced(OPERATIONS["faceless.render"](stage).job)
        pressed_together(priya, job)
        posts = stage.posts(f"/faceless/{job.remote_id}/render")
        charges = list(job.charges.values_list("state", flat=True))
        if posts != 1 or charges != [ChargeState.CONFIRMED]:
            wrong.append(f"{posts} requests, charges {charges}")
    verdict.weigh(stage, "one form")
    print(*wrong[:10], *verdict.problems[:10], sep="\n")
    told = f"{len(wrong)} of {FORMS} forms with {PRESSES} presses were not one request"
    figures.tell(told, "0", holds=not wrong)
    figures.tell(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


def priced(job: Job | None) -> Job:
    assert job
    Job.objects.filter(pk=job.pk).update(estimate=12)
    job.refresh_from_db()
    return job


def pressed_together(by: Membership, job: Job) -> None:
    """The same form from fifty tabs; whoever rings, a worker answers."""
    nonce, start = uuid4(), threading.Barrier(PRESSES)

    def press(_: int) -> None:
        start.wait(60)
        try:
            with suppress(Refusal):
                charge = studio.render(by=by, job=job, nonce=nonce, seen=Decimal(job.estimate or 0))
                dispatch_charge(charge.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(PRESSES) as pool:
        for _ in pool.map(press, range(PRESSES)):
            pass
