"""A message that comes twice, and a form that is sent fifty times at once, are one POST.

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

from dashboard.models import Membership
from dashboard.studio import actions
from proxyapi import tasks
from proxyapi.charges import dispatch_charge
from proxyapi.models import Charge, ChargeState, Draft, Job
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.refusals import Refusal
from tests.admission import admit_charge
from tests.drills.charging.worker_control import WorkerControl, running_process_factory
from tests.drills.figures import Figures
from tests.factories import MembershipFactory, TeamFactory
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import SandboxAccount, open_sandbox_account

MESSAGES = int(os.environ.get("DRILL_MESSAGES", "500"))
FORMS, PRESSES = int(os.environ.get("DRILL_FORMS", "50")), 50


@pytest.fixture
def sandbox_account(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> Iterator[SandboxAccount]:
    with open_sandbox_account(control) as stage:
        yield stage


@pytest.fixture
def worker_control(sandbox: str) -> Iterator[WorkerControl]:
    with running_process_factory(sandbox) as hands:
        yield hands


def test_a_message_that_two_workers_get_is_sent_once(
    sandbox_account: SandboxAccount, worker_control: WorkerControl
) -> None:
    figures, verdict = Figures("messages delivered twice"), ChargeAudit()
    charges = [
        admit_charge(INTENT_MAKERS["text_to_video.create"](sandbox_account))
        for _ in range(MESSAGES)
    ]
    before = sandbox_account.count_posts("/text-to-video")
    # Side by side, so that both workers have one of them at the same time.
    Random(figures.seed).shuffle(charges)  # noqa: S311
    ids = [str(charge.pk) for charge in charges for _ in range(2)]
    with worker_control.start_worker(), worker_control.start_worker():
        for charge_id in ids:
            tasks.dispatch_charge_task.apply_async((charge_id,), queue=worker_control.queue)
        until = time.monotonic() + 600
        while Charge.objects.holding().exists() and time.monotonic() < until:
            threading.Event().wait(0.2)
    posts = sandbox_account.count_posts("/text-to-video") - before
    # An answer that is too late for its timeout is matched with its debit instead.
    charged = Charge.objects.filter(state__in=CHARGED_STATES).count()
    verdict.check_account(sandbox_account, "a message twice")
    figures.report(
        f"{posts} requests for {len(ids)} messages of {MESSAGES} charges, {charged} charged",
        f"{MESSAGES} of each",
        holds=posts == charged == MESSAGES,
    )
    figures.report(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


def test_fifty_presses_of_one_form_are_one_render(sandbox_account: SandboxAccount) -> None:
    figures, verdict = Figures("one form, fifty presses at once"), ChargeAudit()
    priya = MembershipFactory(
        team=TeamFactory(tenant=sandbox_account.token.tenant), user=sandbox_account.token.owner
    )
    wrong = []
    for _ in range(FORMS):
        job = priced_intent(INTENT_MAKERS["faceless.render"](sandbox_account).job)
        press_concurrently(priya, job)
        posts = sandbox_account.count_posts(f"/faceless/{job.remote_id}/render")
        charges = list(job.charges.values_list("state", flat=True))
        if posts != 1 or charges != [ChargeState.CONFIRMED]:
            wrong.append(f"{posts} requests, charges {charges}")
    verdict.check_account(sandbox_account, "one form")
    print(*wrong[:10], *verdict.problems[:10], sep="\n")
    told = f"{len(wrong)} of {FORMS} forms with {PRESSES} presses were not one request"
    figures.report(told, "0", holds=not wrong)
    figures.report(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


def priced_intent(job: Job | None) -> Job:
    assert job
    Draft.objects.filter(pk=job.pk).update(estimate=12)
    job.refresh_from_db()
    return job


def press_concurrently(by: Membership, job: Job) -> None:
    """The same form from fifty tabs; whoever rings, a worker answers."""
    nonce, start = uuid4(), threading.Barrier(PRESSES)

    def press(_: int) -> None:
        start.wait(60)
        try:
            with suppress(Refusal):
                charge = actions.render_video(
                    by=by, job=job, nonce=nonce, seen=Decimal(job.draft.estimate or 0)
                )
                dispatch_charge(charge.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(PRESSES) as pool:
        for _ in pool.map(press, range(PRESSES)):
            pass
