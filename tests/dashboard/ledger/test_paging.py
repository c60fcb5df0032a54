"""Pages by key: every row once, whatever comes in between; the sum shown is that of the rows."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.demo.large_team.build import SeedSize, seed_team
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.rows import LEDGER_PAGE_SIZE
from dashboard.models import Membership
from proxyapi.models import Account, DailyBreakdown, DailyTotalByContentType, LedgerEntry
from tests.dashboard.ledger.conftest import sum_up
from tests.examples import examples
from tests.factories import EntryFactory

pytestmark = pytest.mark.postgresql


@pytest.fixture
def ada(mira: Membership) -> Membership:
    """The owner of a small archive: three accounts, ten people, four months."""
    team = seed_team(SeedSize(entries=240, members=10, jobs=30, days=120), mira.user, seed=3)
    return team.memberships.get(user=mira.user)


def walk(reader: Membership, **query: str) -> Iterator[dict[str, Any]]:
    """Every page from the first on, as somebody who presses the button would see them."""
    while True:
        page = load_ledger_page(reader, parse_ledger_filters(query))
        yield page
        if not page["entries"]["page"].next_url:
            return
        query = dict(parse_qsl(urlsplit(page["entries"]["page"].next_url).query))


def amounts(page: dict[str, Any]) -> list[Decimal]:
    return [row["entry"].amount for day in page["entries"]["page"].days for row in day.rows]


def places(page: dict[str, Any]) -> list[str]:
    rows = [row["entry"] for day in page["entries"]["page"].days for row in day.rows]
    return [reverse("ledger-entry", args=[row.account_id, row.position]) for row in rows]


def some_filters(ada: Membership, chance: random.Random) -> dict[str, str]:
    entry = chance.choice(list(LedgerEntry.objects.filter(charge__isnull=False)[:200]))
    wanted = {
        "period": ["all", "", "90d", "2026-10"],
        "account": [str(chance.choice(Account.objects.values_list("pk", flat=True)))],
        "member": [str(entry.member_id)],
        "job": [str(entry.job_id)],
        "feature": [entry.operation],
        "content_type": [entry.content_type],
        "direction": ["in", "out"],
        "source": ["api", "web"],
        "match": ["yes", "no"],
        "sort": ["oldest"],
    }
    chosen = {name for name in wanted if chance.random() < (0.8 if name == "period" else 0.25)}
    return {name: chance.choice(wanted[name]) for name in sorted(chosen)}


def test_the_sum_shown_is_that_of_the_rows_listed_over_all_pages(ada):
    chance = random.Random(11)  # noqa: S311
    seen = 0
    for _ in range(examples(12, 40)):
        query = some_filters(ada, chance)
        pages = list(walk(ada, **query))
        listed = [amount for page in pages for amount in amounts(page)]
        figures = pages[0]["totals"]["figures"]
        assert (sum(listed), len(listed)) == (figures.net, figures.rows), query
        assert -sum(one for one in listed if one <= 0) == figures.spent, query
        assert len({url for page in pages for url in places(page)}) == len(listed), query
        seen += len(listed)
    assert seen > 150


@pytest.mark.parametrize("sort", ["", "oldest"])
def test_rows_are_in_order_over_all_pages(ada, sort):
    names = LedgerEntry.objects.values_list("account_id", "position", "happened_at")
    times = {(str(account), position): at for account, position, at in names}
    keys = []
    for page in walk(ada, period="all", sort=sort):
        for url in places(page):
            _, _, account, position, _ = url.split("/")
            keys.append(times[account, int(position)])
    assert len(keys) == 240
    assert keys == sorted(keys, reverse=not sort)


@pytest.mark.parametrize("account", ["", "one"])
def test_rows_that_come_meanwhile_move_nothing(ada, account):
    """pitfall_63: a page by number would show rows twice."""
    one = Account.objects.get(name="Archive Studio")
    query = {"period": "all", **({"account": str(one.pk)} if account else {})}
    before = set(
        LedgerEntry.objects.filter(**{"account": one} if account else {}).values_list("pk")
    )
    listed: list[str] = []
    for number, page in enumerate(walk(ada, **query)):
        listed += places(page)
        at = timezone.now() + timedelta(seconds=number)
        EntryFactory.create(account=one, happened_at=at)
        sum_up(one, at)
    assert len(listed) == len(set(listed)) == len(before)


def test_many_rows_of_one_second_are_listed_once(add_entry, thea, account):
    """pitfall_62: equal rows of one moment are still rows of their own."""
    at = timezone.now()
    for _ in range(2 * LEDGER_PAGE_SIZE + 3):
        EntryFactory.create(account=account, happened_at=at)
    sum_up(account)
    for sort in ("", "oldest"):
        listed = [url for page in walk(thea, sort=sort) for url in places(page)]
        assert len(listed) == len(set(listed)) == 2 * LEDGER_PAGE_SIZE + 3


def test_the_seeded_archive_agrees_with_itself(ada):
    for account in Account.objects.filter(tenant=ada.team.tenant):
        rows = list(account.entries.order_by("position"))
        assert [row.position for row in rows] == list(range(len(rows)))
        assert [row.happened_at for row in rows] == sorted(row.happened_at for row in rows)
        assert account.balance == 250_000 + sum(row.amount for row in rows)
        assert account.ledger.high == len(rows)
    for sums in (DailyBreakdown, DailyTotalByContentType):
        assert sum(row.entries for row in sums.objects.all()) == 240


@pytest.mark.parametrize(
    ("zone", "sort"), [("Pacific/Auckland", ""), ("Pacific/Honolulu", "oldest")]
)
def test_no_row_is_lost_while_the_days_of_another_zone_are_recounted(ada, zone, sort):
    ada.team.tenant.time_zone = zone
    ada.team.tenant.save()
    ada.team.refresh_from_db()
    listed = [place for page in walk(ada, period="all", sort=sort) for place in places(page)]
    assert len(listed) == len(set(listed)) == LedgerEntry.objects.count()
