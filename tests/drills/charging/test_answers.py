"""a8, a10: a hundred clips whose answer is lost, and fifty answers that lie about the price.

Half of them on SQLite, half on PostgreSQL.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import httpx
import pytest

from proxyapi.charges import record
from proxyapi.charges.outcome import PRICE_DIFFERS
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.drills.figures import Figures
from tests.proxyapi.money.operations import OPERATIONS, path_of
from tests.proxyapi.money.stage import Stage, carried, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire

LOST = int(os.environ.get("DRILL_LOST", "50"))
LIES = int(os.environ.get("DRILL_LIES", "25"))


@pytest.fixture
def stage(control: httpx.Client, wire: Wire) -> Iterator[Stage]:
    with opened(control) as stage:
        yield stage


def test_every_lost_clip_is_an_orphan(stage: Stage) -> None:
    figures, verdict = Figures("lost clips"), Verdict()
    for _ in range(LOST):
        intent = OPERATIONS["text_to_video.create"](stage)
        stage.fault("/v2/text-to-video", "close", "after")
        carried(record(intent), 60)
    found = Charge.objects.filter(
        state=ChargeState.MATCHED,
        orphan_at__isnull=False,
        booked_at__isnull=False,
        cost__gt=0,
        job__state=JobState.DRAFT,
    )
    orphans, posts = found.count(), stage.posts("/text-to-video")
    verdict.weigh(stage, "lost clips")
    told = f"{orphans} orphans with cost and time of {LOST} lost answers"
    figures.tell(told, str(LOST), holds=orphans == LOST)
    figures.tell(f"{posts - LOST} sent again", "0", holds=posts == LOST)
    figures.tell(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


def test_every_lie_about_the_price_is_flagged(stage: Stage) -> None:
    figures = Figures("prices that were not the price")
    for number in range(LIES):
        operation = ("text_to_video.create", "faceless.render")[number % 2]
        intent = OPERATIONS[operation](stage)
        told = intent.hold + 1 + number % 3
        meta = {"credits": {"cost": float(told), "remaining": 1000}}
        data = {"asset": {"id": 9_000_000 + number, "status": "draft"}}
        body = {"message": "OK", "status": 202, "data": data, "meta": meta}
        stage.fault(path_of(operation), "status", "after", code=202, body=body)
        carried(record(intent), 60)
    flagged = Charge.objects.filter(state=ChargeState.CONFIRMED, code=PRICE_DIFFERS)
    figures.tell(f"{flagged.count()} of {LIES} flagged", str(LIES), holds=flagged.count() == LIES)
    running = Job.objects.filter(state=JobState.RUNNING).count()
    figures.tell(f"{running} of {LIES} run all the same", str(LIES), holds=running == LIES)
    figures.close()
