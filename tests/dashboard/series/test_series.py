"""A series starts its next batch once at each of its times, within its credits a month, or pauses
with a sentence."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from dashboard import tasks
from dashboard.alerts.member_notifications import notify_members
from dashboard.members.actions.deactivation import deactivate_member
from dashboard.models import (
    AlertEvent,
    Batch,
    BatchRow,
    Budget,
    Membership,
    Preset,
    Series,
)
from dashboard.series import actions
from dashboard.series.actions import next_time, run_series
from dashboard.shared.start_times import wall_time
from proxyapi.models import Account, Charge, DatabaseEpoch, Tenant, Token, TokenState
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.batches.conftest import advance, render_all, states
from tests.dashboard.series.conftest import BERLIN, LAKES, make_series, start, time_comes
from tests.factories import MembershipFactory, TokenFactory


@pytest.mark.postgresql
def test_its_time_starts_one_batch_of_the_next_topics(lakes, priya):
    series = time_comes(lakes)
    batch = Batch.objects.get()
    assert (batch.series, batch.member, batch.state) == (series, priya.user, "running")
    assert batch.max_credits == 393
    assert [row.cells[0] for row in batch.rows.all()] == LAKES[:3]
    assert series.topic_lines == LAKES[3:]
    assert series.is_running
    assert series.next_at > timezone.now()
    assert states(advance(batch)) == ["begun", "begun", "waiting"]
    assert {charge.member for charge in Charge.objects.filter(state="held")} == {priya.user}


@pytest.mark.postgresql
def test_nothing_starts_before_its_time_or_while_it_is_paused(lakes, priya):
    run_series(lakes.pk)
    actions.pause_series(by=priya, series=lakes)
    time_comes(lakes)
    assert not Batch.objects.exists()


@pytest.mark.postgresql
def test_missed_times_count_once(lakes):
    Series.objects.update(next_at=timezone.now() - timedelta(days=30))
    for _ in range(3):
        run_series(lakes.pk)
    assert Batch.objects.count() == 1


def test_the_sweep_looks_at_what_is_due(lakes, monkeypatch):
    started: list[str] = []
    monkeypatch.setattr(tasks.run_series, "delay", started.append)
    tasks.sweep_series()
    assert not started
    Series.objects.update(next_at=timezone.now())
    tasks.sweep_series()
    assert started == [str(lakes.pk)]


@pytest.mark.postgresql
def test_only_as_many_topics_start_as_fit_the_month(history, priya):
    series = start(priya, make_series(priya, *LAKES, monthly_credits=Decimal(300)))
    series = time_comes(series)
    batch = Batch.objects.get()
    assert (batch.rows.count(), batch.max_credits) == (2, 262)
    assert series.topic_lines == LAKES[2:]
    series = time_comes(series)
    assert Batch.objects.count() == 1
    assert series.pause_reason.startswith("262 of 300 cr of this month are spent or held")
    assert series.topic_lines == LAKES[2:]


@pytest.mark.postgresql
def test_confirmed_in_a_month_that_is_used_up_it_goes_on_in_the_next(history, priya):
    series = start(priya, make_series(priya, *LAKES, monthly_credits=Decimal(300)))
    series = start(priya, time_comes(time_comes(series)))
    first, zone = wall_time(series.next_at, series.zone), series.zone
    this_month = wall_time(timezone.now(), zone).replace(day=1)
    assert first.date().replace(day=1) == (this_month + timedelta(days=32)).date().replace(day=1)
    assert (first.day <= 7, first.weekday(), first.hour) == (True, 0, 9)
    assert series.is_running


@pytest.mark.postgresql
def test_what_an_ended_batch_did_not_use_is_free_again(history, priya):
    series = start(priya, make_series(priya, *LAKES, count=2, monthly_credits=Decimal(335)))
    time_comes(series)
    assert actions.load_used_of_month(series) == 262
    render_all(Batch.objects.get())
    assert actions.load_used_of_month(series) == 200  # 4 for each script, 96 for each render
    time_comes(series)
    assert Batch.objects.order_by("created_at")[1].rows.count() == 1
    Batch.objects.update(started_at=timezone.now() - timedelta(days=32))
    assert actions.load_used_of_month(series) == 0


@pytest.mark.postgresql
def test_it_pauses_when_its_topics_are_used_up(history, priya):
    series = time_comes(start(priya, make_series(priya, *LAKES[:3])))
    assert Batch.objects.get().rows.count() == 3
    assert (series.is_running, series.pause_reason) == (False, actions.TOPICS_USED_UP)
    for _ in range(2):
        notify_members(series.team_id)
    assert AlertEvent.objects.filter(notification="series_paused").count() == 1


def preset_is_deleted(series):
    Preset.objects.all().delete()


def member_is_deactivated(series):
    owner = MembershipFactory.create(team=series.team, role="owner")
    member = Membership.objects.get(team=series.team, user=series.member)
    deactivate_member(by=owner, member=member)


def role_changes(series):
    Membership.objects.filter(user=series.member).update(role="viewer")


def token_is_revoked(series):
    """Somebody else's token is not used in its place."""
    Token.objects.update(state=TokenState.REVOKED, state_since=timezone.now())
    luca = MembershipFactory.create(team=series.team)
    TokenFactory.create(account=Account.objects.get(), owner=luca.user)


def charges_are_stopped(series):
    Tenant.objects.update(
        charges_stopped_at=timezone.now(), charges_stopped_by="Mira", charge_stop_reason="Audit"
    )


def person_is_paused(series):
    Membership.objects.filter(user=series.member).update(
        charges_paused_at=timezone.now(), charges_paused_by="Mira", charge_pause_reason="Audit"
    )


def credits_are_gone(series):
    Account.objects.update(balance=Decimal(100))


def budget_is_small(series):
    Budget.objects.create(team=series.team, member=series.member, period="month", hard=60)


def second_person_is_needed(series):
    series.team.second_person_above = Decimal(200)
    series.team.save()


def database_is_restored(series):
    DatabaseEpoch.objects.create(number=DatabaseEpoch.objects.get_or_create_current().number + 1)


def topic_is_too_long(series):
    Series.objects.update(topics="lake " * 2000)


@pytest.mark.postgresql
@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (preset_is_deleted, actions.PRESET_GONE),
        (role_changes, "Priya is no longer in the team, or may no longer render."),
        (token_is_revoked, "You have no token yet"),
        (charges_are_stopped, "Not sent. Mira stopped all charges"),
        (person_is_paused, "Not sent. Mira paused the charges of Priya"),
        (credits_are_gone, "Not sent. It needs 393 cr; 100 are free."),
        (budget_is_small, "Nothing was started. It may need 393 cr"),
        (second_person_is_needed, "Nothing was started. More than 200 cr at once need a second"),
        (database_is_restored, "The database was restored from a backup."),
        (topic_is_too_long, "The topic “lake lake"),
    ],
)
def test_what_stands_in_its_way_pauses_it_once_and_keeps_its_topics(lakes, happen, reason):
    happen(lakes)
    kept = Series.objects.get().topics
    series = time_comes(lakes)
    assert series.pause_reason.startswith(reason)
    assert (series.topics, Batch.objects.count(), BatchRow.objects.count()) == (kept, 0, 0)
    for _ in range(2):
        notify_members(series.team_id)
    assert AlertEvent.objects.filter(notification="series_paused").count() == 1


@pytest.mark.postgresql
def test_the_series_of_a_member_who_leaves_pauses_at_once(lakes):
    member_is_deactivated(lakes)
    series = Series.objects.get()
    assert series.pause_reason == (
        "Priya Raman may no longer create videos. Nothing of the series is started."
    )


def test_topics_that_were_made_are_left_out(lakes):
    Series.objects.update(topics=f"{LAKES[0]}\n{LAKES[0]}\n{LAKES[1]}")
    series = time_comes(lakes)
    assert list(BatchRow.objects.values_list("state", flat=True)) == [
        "waiting",
        "left_out",
        "waiting",
    ]
    assert not series.topics


@pytest.mark.postgresql
def test_it_runs_as_it_was_confirmed(history, priya, luca):
    series = make_series(priya, *LAKES)
    run = actions.load_next_run(series)
    seen, version = run.total.usual, series.version
    with pytest.raises(PermissionDenied):
        actions.resume_series(by=luca, series=series, seen=seen, version=version)
    for shown, of in ((seen + 1, version), (seen, "x")):
        with pytest.raises(StaleData):
            actions.resume_series(by=priya, series=series, seen=shown, version=of)
    Series.objects.update(monthly_credits=130)
    with pytest.raises(Refusal, match="One video may cost 131 cr, more than the 130 cr a month"):
        start(priya, Series.objects.get())
    assert not Series.objects.running().exists()


def test_a_change_of_what_was_confirmed_pauses_it(lakes, priya, luca):
    change = {"topics": "Fog"}
    assert actions.save_series(by=priya, series=lakes, changes=change).is_running
    changed = actions.save_series(by=priya, series=lakes, changes={"count": 4})
    assert (changed.is_running, changed.pause_reason) == (False, "")
    with pytest.raises(PermissionDenied):
        actions.save_series(by=luca, series=lakes, changes={"count": 5})


def series_at(weekdays: list[int], at: time, zone: str = BERLIN) -> Series:
    return Series(weekdays=weekdays, at=at, time_zone=zone)


@pytest.mark.parametrize(
    ("weekdays", "at", "after", "expected"),
    [
        ([0], "09:00", "2026-11-29T12:00Z", "2026-11-30T08:00Z"),
        ([0], "09:00", "2026-11-30T07:59Z", "2026-11-30T08:00Z"),
        ([0], "09:00", "2026-11-30T08:00Z", "2026-12-07T08:00Z"),
        ([0, 3], "09:00", "2026-11-30T08:00Z", "2026-12-03T08:00Z"),
        ([0], "09:00", "2026-03-23T09:00Z", "2026-03-30T07:00Z"),  # summer time since Sunday
        ([0], "09:00", "2026-10-19T08:00Z", "2026-10-26T08:00Z"),
        ([6], "02:30", "2026-03-28T12:00Z", "2026-03-29T01:00Z"),  # skipped: at 3:00
        ([6], "02:30", "2026-10-24T12:00Z", "2026-10-25T00:30Z"),  # twice: the first
        ([6], "02:30", "2026-10-25T00:30Z", "2026-11-01T01:30Z"),
    ],
)
def test_the_wall_clock_time_is_kept(weekdays, at, after, expected):
    series = series_at(weekdays, time.fromisoformat(at))
    assert next_time(series, datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


@given(
    st.datetimes(datetime(2020, 1, 1), datetime(2035, 1, 1), timezones=st.just(UTC)),
    st.sets(st.integers(0, 6), min_size=1),
    st.times(),
    st.sampled_from([BERLIN, "America/New_York", "Pacific/Auckland", "UTC"]),
)
def test_the_next_time_is_the_first_one_that_comes(after, weekdays, at, zone):
    at = at.replace(second=0, microsecond=0)
    series = series_at(sorted(weekdays), at, zone)
    found = next_time(series, after)
    assert after < found <= after + timedelta(days=7, hours=2)
    assert wall_time(found, series.zone).weekday() in weekdays
    assert next_time(series, found - timedelta(seconds=1)) == found
