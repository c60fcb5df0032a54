"""The mirror at its full volume: ten thousand rows, and five hundred debits of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

import pytest

from proxyapi import ledger
from proxyapi.ledger import recheck_old_pages
from proxyapi.ledger.page_reader import LEDGER_PAGE_SIZE
from proxyapi.models import Job
from tests.drills.figures import Figures
from tests.factories import UserFactory
from tests.proxyapi.ledger.wire import page_totals
from tests.proxyapi.ledger.wire import volume_checks as held_to
from tests.proxyapi.ledger.wire.conftest import (
    account,
    control,
    job,
    sandbox,
    sandbox_service,
    token,
)
from tests.proxyapi.ledger.wire.sandbox_service import SandboxService

__all__ = ["account", "control", "job", "sandbox", "sandbox_service", "token"]

ROWS = int(os.environ.get("DRILL_ROWS", "10000"))
PAGES = ROWS // LEDGER_PAGE_SIZE
TWINS = 200
THEIRS, OURS = 500, 60
ACTS = 200


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Iterator[Figures]:
    told = Figures(request.node.originalname.removeprefix("test_").replace("_", " "))
    yield told
    told.close()


def test_mirror_of_a_long_ledger(
    sandbox_service: SandboxService, figures: Figures, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = Random(figures.seed)  # noqa: S311
    found = held_to.measure_volume(sandbox_service, ROWS, TWINS, chance)
    most = PAGES + 1
    figures.report(
        f"{ROWS} rows mirrored for {found.requests} requests, and {found.of_api} more for which of "
        "them are the API’s",
        f"at most {most}, and as many again",
        holds=max(found.requests, found.of_api) <= most,
    )
    rows = found.readings - found.of_api
    figures.report(
        f"the service's own journal has {found.readings} requests for it, {rows} without those of "
        "the API’s view",
        f"the same, so at most {most}",
        holds=rows == found.requests and rows <= most,
    )
    figures.report(f"a re-run is {found.again} request", "1", holds=found.again == 1)
    figures.report(f"{found.twins} of {TWINS} twins kept", f"{TWINS}", holds=found.twins == TWINS)
    wrong = sum((found.missing + found.added).values())
    figures.report(f"{wrong} rows missing or too many", "0", holds=wrong == 0)
    report_conflicts(sandbox_service, figures, chance, monkeypatch)


def report_conflicts(
    service: SandboxService, figures: Figures, chance: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The recheck goes from the newest page to the oldest, so the row's place decides how long."""
    one = held_to.detect_by_recheck(service, chance.randrange(ROWS), monkeypatch)
    mark = ledger.count_open_conflicts(service.account).fingerprint
    figures.report(
        f"row {one.number} of {ROWS} was rewritten, and that is {'' if one.is_detected else 'not '}"
        f"noticed by the patrol after {one.requests} requests, in {one.simulated} of simulated "
        "time",
        f"noticed within {2 * PAGES} requests and {PAGES * recheck_old_pages.RECHECK_INTERVAL}",
        holds=one.is_detected
        and one.requests <= 2 * PAGES
        and one.simulated <= PAGES * recheck_old_pages.RECHECK_INTERVAL,
    )
    ledger.accept_all_upstream_versions(service.account, UserFactory().pk, mark)
    other = held_to.detect_by_request(service, chance.randrange(ROWS))
    figures.report(
        f"row {other.number} was rewritten then, and that is {'' if other.is_detected else 'not '}"
        f"noticed by verify_ledger --reread after {other.requests} requests",
        f"noticed within {PAGES + 2}: a look at the end, one of the patrol, and every page",
        holds=other.is_detected and other.requests <= PAGES + 2,
    )


@pytest.mark.django_db(transaction=True)
def test_mirror_while_rows_arrive(sandbox_service: SandboxService, figures: Figures) -> None:
    missing, added = held_to.mirror_while_inserting(sandbox_service, 2_000, 500)
    wrong = sum((missing + added).values())
    figures.report(f"500 rows came while reading: {wrong} missing or twice", "0", holds=wrong == 0)


def test_spenders_outside(sandbox_service: SandboxService, job: Job, figures: Figures) -> None:
    found = held_to.run_spenders(sandbox_service, job, THEIRS, OURS, Random(figures.seed))  # noqa: S311
    figures.report(
        f"{found.outside} of {THEIRS} debits of others are outside the portal, "
        f"{found.outside_sum} of {found.theirs_sum} cr",
        f"all {THEIRS}",
        holds=(found.outside, found.outside_sum) == (THEIRS, found.theirs_sum),
    )
    figures.report(
        f"{found.taken} of them taken for one of {OURS} charges in between",
        "0",
        holds=found.taken == 0,
    )
    figures.report(
        f"{found.unmatched} charges without a debit, {found.twice} with two",
        "0 and 0",
        holds=found.unmatched == found.twice == 0,
    )


def test_sums_of_the_pages(sandbox_service: SandboxService, job: Job, figures: Figures) -> None:
    life = page_totals.AccountActivity(sandbox_service, job, Random(figures.seed))  # noqa: S311
    life.prepare()
    life.perform(ACTS)
    money, wrong = sandbox_service.money(), page_totals.page_differences(sandbox_service, life)
    told = f": {wrong}" if wrong else ""
    figures.report(
        f"{len(wrong)} differences between the pages and the service's money after {ACTS} acts, "
        f"with {len(money['refunds'])} refunds and {len(money['top_ups'])} top-ups{told}",
        "0",
        holds=not wrong,
    )
