"""a8, a10: a hundred clips whose answer is lost, and fifty answers that lie about the price.

Half of them on SQLite, half on PostgreSQL.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from random import Random

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import admit_charge
from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.drills.charging.lies import PLACES, Lie, lie
from tests.drills.figures import Figures
from tests.proxyapi.money import wire as patience
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.stage import Stage, carried, opened
from tests.proxyapi.money.verdict import Verdict
from tests.proxyapi.money.wire import Wire

LOST = int(os.environ.get("DRILL_LOST", "50"))
LIES = int(os.environ.get("DRILL_LIES", "25"))


@pytest.fixture
def stage(control: httpx.Client, wire: Wire) -> Iterator[Stage]:
    with opened(control) as stage:
        yield stage


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lie has to be heard, however busy the machine is."""
    monkeypatch.setattr(patience, "TIMEOUT", 30.0)


def test_every_lost_clip_is_an_orphan(stage: Stage) -> None:
    figures, verdict = Figures("lost clips"), Verdict()
    for _ in range(LOST):
        intent = OPERATIONS["text_to_video.create"](stage)
        stage.fault("/v2/text-to-video", "close", "after")
        carried(admit_charge(intent), 60)
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


@pytest.mark.usefixtures("patient")
def test_every_lie_about_the_price_is_shown(
    control: httpx.Client, wire: Wire, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures, verdict = Figures("prices that were not the price"), Verdict()
    chance = Random(figures.seed)  # noqa: S311
    control.post("reset", json={})
    lies = [lie(control, *PLACES[number % len(PLACES)], chance) for number in range(LIES)]
    # What a row may be late by is over: what fits no row by now is told.
    later = timezone.now() + MATCH_BOOKING_DELAY + timedelta(minutes=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    for one in lies:
        one.weigh(verdict)
    tell_lies(figures, lies)
    wrong = verdict.problems
    said = f"{len(wrong)} differences between the books that no lie explains"
    figures.tell(said, "0", holds=not wrong, found=wrong)
    running = Job.objects.filter(state=JobState.RUNNING).count()
    figures.tell(f"{running} of {LIES} run all the same", str(LIES), holds=running == LIES)
    figures.close()


def tell_lies(figures: Figures, lies: list[Lie]) -> None:
    off = [one for one in lies if one.is_off]
    wrong = [one.what for one in lies if one.is_flagged != one.is_off]
    figures.tell(
        f"{sum(one.is_flagged for one in lies)} of {len(lies)} flagged, {len(wrong)} wrongly or "
        "wrongly not",
        f"{len(off)}: any of a clip, and of a render nothing or more than was held",
        holds=not wrong and 0 < len(off) < len(lies),
        found=wrong,
    )
    hidden = [one.what for one in lies if not one.is_flagged and not one.is_shown]
    figures.tell(
        f"{len(hidden)} neither flagged nor shown beside the ledger",
        "0",
        holds=not hidden,
        found=hidden,
    )
    near = [one for one in lies if one.is_near]
    unknown = [one.what for one in near if not (one.is_booked and one.is_shown)]
    figures.tell(
        f"{len(near) - len(unknown)} of {len(near)} debits known as the charge’s, with what was "
        "told and what was booked",
        f"{len(near)}: all but where nothing was told or more than twice of it",
        holds=bool(near) and not unknown,
        found=unknown,
    )
