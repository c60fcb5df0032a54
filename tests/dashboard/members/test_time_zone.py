"""The team's time zone: who sets it, what is shown in it, and the sums that change with it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, date, datetime
from decimal import Decimal
from html import escape
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import AuditEvent, Membership
from dashboard.shared.live.change_rendering import render_tenant_changes
from proxyapi import tasks
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import Account, DailyBreakdown, LedgerEntry, LedgerMirror
from proxyapi.redis_client import connect_redis
from proxyapi.rollups import daily_totals
from tests.cases import each_case
from tests.factories import AccountFactory, EntryFactory, JobFactory

ClientOf = Callable[[Membership], Client]
AUCKLAND = "Pacific/Auckland"  # 13 h before UTC in November
LATE = datetime(2026, 11, 20, 12, 30, tzinfo=UTC)  # the 21st there


def choose(browser: Client, name: str) -> Any:
    return browser.post(reverse("team-time-zone"), {"time_zone": name})


@pytest.fixture
def entry(mira: Membership) -> LedgerEntry:
    account = AccountFactory(tenant=mira.team.tenant)
    LedgerMirror.objects.get_or_create(account=account)
    entry = EntryFactory(account=account, amount=Decimal(-96), happened_at=LATE)
    daily_totals.rebuild_days(account, daily_totals.days_in_account_zone(account, [LATE]))
    return entry


def test_the_owner_sets_it_and_it_is_written_down(mira: Membership, client_of: ClientOf) -> None:
    response = choose(client_of(mira), AUCKLAND)
    assert response.status_code == 302
    mira.team.tenant.refresh_from_db()
    assert mira.team.tenant.time_zone == AUCKLAND
    written = AuditEvent.objects.get(action="team.time_zone")
    zones = {"time_zone": "UTC"}, {"time_zone": AUCKLAND}
    assert (written.before, written.after) == zones


@each_case("name", ["", "Mars/Olympus", "../etc/passwd", "<b>UTC</b>", "x" * 300])
def test_what_is_no_time_zone_is_said_in_words(
    name: str, mira: Membership, client_of: ClientOf
) -> None:
    response = choose(client_of(mira), name)
    assert response.status_code == 422
    sentence = "This time zone does not exist. Choose one from the list, such as Europe/Berlin."
    page = response.content.decode()
    assert (sentence if name else "Enter a time zone.") in page
    assert f'value="{escape(name)}"' in page or not name
    mira.team.tenant.refresh_from_db()
    assert mira.team.tenant.time_zone == "UTC"


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("America/New York", "America/New_York"),
        (" america/new_york ", "America/New_York"),
        ("auckland", AUCKLAND),
    ],
)
def test_a_time_zone_is_found_by_how_people_write_it(
    typed: str, name: str, mira: Membership, client_of: ClientOf
) -> None:
    browser = client_of(mira)
    assert choose(browser, typed).status_code == 302
    mira.team.tenant.refresh_from_db()
    assert mira.team.tenant.time_zone == name
    page = browser.get(reverse("members")).content.decode()
    assert f'value="{name.replace("_", " ")}"' in page.partition("<datalist")[0]


@pytest.mark.django_db
def test_nobody_else_sets_it(jonas: Membership, client_of: ClientOf) -> None:
    assert choose(client_of(jonas), AUCKLAND).status_code == 403
    page = client_of(jonas).get(reverse("members")).content.decode()
    assert reverse("team-time-zone") not in page
    assert "Set by an owner." in page


def test_the_days_of_the_ledger_move_with_it(
    entry: LedgerEntry, mira: Membership, client_of: ClientOf
) -> None:
    assert [row.day for row in DailyBreakdown.objects.all()] == [date(2026, 11, 20)]
    choose(client_of(mira), AUCKLAND)
    assert daily_totals.accounts_with_stale_zone() == [entry.account_id]
    tasks.recount_days_task(str(entry.account_id))
    assert [(row.day, row.amount) for row in DailyBreakdown.objects.all()] == [
        (date(2026, 11, 21), -96)
    ]
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_zone_that_was_changed_back_before_anybody_counted_is_counted_all_the_same(
    entry: LedgerEntry, mira: Membership, client_of: ClientOf
) -> None:
    """Meanwhile a reading counted its days in the other one."""
    choose(client_of(mira), AUCKLAND)
    daily_totals.rebuild_days_at(entry.account, [LATE])
    choose(client_of(mira), "UTC")
    assert daily_totals.accounts_with_stale_zone() == [entry.account_id]
    tasks.recount_days_task(str(entry.account_id))
    assert [(row.day, row.amount) for row in DailyBreakdown.objects.all()] == [
        (date(2026, 11, 20), -96)
    ]
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_zone_that_was_changed_back_amid_a_count_is_counted_again(
    entry: LedgerEntry, mira: Membership, client_of: ClientOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The count began in the zone that it ends in, and has a week of the other between."""
    recount, browser = daily_totals.rebuild_days, client_of(mira)

    def move(account: Account, days: Collection[date]) -> None:
        choose(browser, AUCKLAND)
        recount(account, days)
        choose(browser, "UTC")

    with monkeypatch.context() as patch:
        patch.setattr(daily_totals, "rebuild_days", move)
        daily_totals.rebuild_all_days(entry.account)
    assert [row.day for row in DailyBreakdown.objects.all()] != [date(2026, 11, 20)]
    assert daily_totals.accounts_with_stale_zone() == [entry.account_id]
    tasks.recount_days_task(str(entry.account_id))
    assert [row.day for row in DailyBreakdown.objects.all()] == [date(2026, 11, 20)]
    assert daily_totals.accounts_with_stale_zone() == []


def test_two_do_not_count_the_same_account(
    entry: LedgerEntry, mira: Membership, client_of: ClientOf
) -> None:
    choose(client_of(mira), AUCKLAND)
    with connect_redis().lock(f"reelroom:recount:{entry.account_id}", timeout=60):
        tasks.recount_days_task(str(entry.account_id))
        assert daily_totals.accounts_with_stale_zone() == [entry.account_id]
    tasks.recount_days_task(str(entry.account_id))
    assert daily_totals.accounts_with_stale_zone() == []


def test_a_lost_task_message_is_found_by_the_sweep(
    entry: LedgerEntry, mira: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    rung: list[str] = []
    monkeypatch.setattr(tasks.recount_days_task, "delay", rung.append)
    tasks.sweep_moved_days()
    mira.team.tenant.time_zone = AUCKLAND
    mira.team.tenant.save()
    tasks.sweep_moved_days()
    assert rung == [str(entry.account_id)]


def test_pages_and_pushes_show_clock_times_in_it(mira: Membership, client_of: ClientOf) -> None:
    job = JobFactory(tenant=mira.team.tenant, account__tenant=mira.team.tenant, member=mira.user)
    mira.team.tenant.time_zone = AUCKLAND
    mira.team.tenant.save()
    page = client_of(mira).get(reverse("video", args=[job.pk]))
    assert page.status_code == 200
    here = job.created_at.astimezone(mira.team.tenant.zone)
    assert f"{here:%H:%M}" in page.content.decode()
    pushed = render_tenant_changes(
        job.tenant_id, {ChangeEvent(job.tenant_id, EventType.JOB, job.pk)}
    )
    assert f"{here:%H:%M}" in pushed
