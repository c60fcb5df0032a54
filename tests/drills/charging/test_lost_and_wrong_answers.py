"""A hundred clips whose answer is lost, and fifty answers that lie about the price.

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

from proxyapi.ledger.matching_rules import MATCH_BOOKING_DELAY
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.admission import admit_charge
from tests.drills.charging.wrong_prices import PLACES, WrongPrice, charge_wrong_price
from tests.drills.figures import Figures
from tests.proxyapi.money import faulty_transport as patience
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import (
    SandboxAccount,
    open_sandbox_account,
    work_until_settled,
)

LOST = int(os.environ.get("DRILL_LOST", "50"))
LIES = int(os.environ.get("DRILL_LIES", "25"))


@pytest.fixture
def sandbox_account(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> Iterator[SandboxAccount]:
    with open_sandbox_account(control) as stage:
        yield stage


@pytest.fixture
def long_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A lie has to be heard, however busy the machine is."""
    monkeypatch.setattr(patience, "TIMEOUT", 30.0)


def test_every_lost_clip_is_an_orphan(sandbox_account: SandboxAccount) -> None:
    figures, verdict = Figures("lost clips"), ChargeAudit()
    for _ in range(LOST):
        intent = INTENT_MAKERS["text_to_video.create"](sandbox_account)
        sandbox_account.set_fault("/v2/text-to-video", "close", "after")
        work_until_settled(admit_charge(intent), 60)
    found = Charge.objects.filter(
        state=ChargeState.MATCHED,
        unidentified_at__isnull=False,
        booked_at__isnull=False,
        cost__gt=0,
        job__state=JobState.DRAFT,
    )
    orphans, posts = found.count(), sandbox_account.count_posts("/text-to-video")
    verdict.check_account(sandbox_account, "lost clips")
    told = f"{orphans} orphans with cost and time of {LOST} lost answers"
    figures.report(told, str(LOST), holds=orphans == LOST)
    figures.report(f"{posts - LOST} sent again", "0", holds=posts == LOST)
    figures.report(f"{len(verdict.problems)} differences", "0", holds=not verdict.problems)
    figures.close()


@pytest.mark.usefixtures("long_timeouts")
def test_no_lie_about_the_price_is_kept_from_the_books(
    control: httpx.Client, faulty_transport: FaultyTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    figures, verdict = Figures("prices that were not the price"), ChargeAudit()
    chance = Random(figures.seed)  # noqa: S311
    control.post("reset", json={})
    lies = [
        charge_wrong_price(control, *PLACES[number % len(PLACES)], chance) for number in range(LIES)
    ]
    # What a row may be late by is over: what fits no row by now is told.
    later = timezone.now() + MATCH_BOOKING_DELAY + timedelta(minutes=1)
    monkeypatch.setattr(timezone, "now", lambda: later)
    for one in lies:
        one.check_accounts(verdict)
    report_wrong_prices(figures, lies)
    wrong = verdict.problems
    said = f"{len(wrong)} differences between the books that no lie explains"
    figures.report(said, "0", holds=not wrong, found=wrong)
    running = Job.objects.filter(state=JobState.RUNNING).count()
    figures.report(f"{running} of {LIES} run all the same", str(LIES), holds=running == LIES)
    figures.close()


def report_wrong_prices(figures: Figures, lies: list[WrongPrice]) -> None:
    off = [one for one in lies if one.is_unexplained]
    wrong = [one.description for one in off if not one.is_settled_by_ledger]
    figures.report(
        f"{len(off) - len(wrong)} of {len(off)} costs that the price does not explain were settled "
        "at what the ledger booked",
        f"{len(off)}: any of a clip, and of a render nothing or more than was held",
        holds=not wrong and 0 < len(off) < len(lies),
        found=wrong,
    )
    near = [one for one in lies if not one.is_unexplained]
    hidden = [one.description for one in near if not (one.is_booked and one.is_shown)]
    figures.report(
        f"{len(near) - len(hidden)} of {len(near)} other costs shown beside what was booked",
        str(len(near)),
        holds=not hidden,
        found=hidden,
    )
