"""Seeding the demo: a failed start leaves nothing, a second one changes nothing, or no past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.apps import apps
from django.contrib.auth.hashers import check_password
from django.core.management import CommandError, call_command
from django.utils import timezone

from dashboard.demo.demo_team import SHARED_ACCOUNT, TOKEN_OWNERS
from dashboard.demo.history import build
from dashboard.demo.history.account import (
    top_up_failure_time,
)
from dashboard.demo.history.plan import PAST_DAYS, OptionPool, plan_videos
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.management.commands import seed_demo
from proxyapi.ledger.reconciliation import balance_difference
from proxyapi.models import (
    Account,
    Job,
    LedgerEntry,
)
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.errors import ConnectionRefused
from tests.dashboard.demo.demo_sandbox import demo_sandbox
from tests.examples import examples
from tests.proxyapi.money.in_process_sandbox import ADDRESS, InProcessSandbox

pytestmark = pytest.mark.postgresql

MOMENTS = ["2026-11-26 15:05", "2026-12-19 01:49", "2027-03-13 14:00", "2027-05-01 08:30"]
OFFERED = OptionPool([2114, 2117], [41, 42], [11, 12, 14, 17], [811])


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[InProcessSandbox]:
    with demo_sandbox(tmp_path) as made:
        yield made


def row_counts() -> Counter[str]:
    models = [*apps.get_app_config("proxyapi").get_models()]
    models += apps.get_app_config("dashboard").get_models()
    return Counter({model.__name__: model._default_manager.count() for model in models})


@pytest.mark.parametrize("demo", ["full", "empty"])
def test_what_is_made_while_the_database_is_migrated_asks_no_database(sandbox, settings, demo):
    """Without the mark `django_db` a query fails."""
    settings.DEMO = demo
    parts = seed_demo.make_parts()

    assert len(parts.tokens) == len(set(parts.tokens)) == 3
    assert len({account["token"] for account in parts.accounts}) == 3
    assert all(check_password(*password) for password in parts.passwords)
    assert (parts.past is not None) == (demo == "full")


@pytest.mark.django_db
def test_an_empty_demo_has_no_past(sandbox, settings):
    settings.DEMO = "empty"
    call_command("seed_demo", verbosity=0)

    assert row_counts()["Token"] == 3
    assert not Job.objects.exists()
    assert not LedgerEntry.objects.exists()
    assert Account.objects.get().monthly_credits == 12_000


@pytest.mark.django_db
def test_the_start_after_a_failed_one_is_whole_and_another_changes_nothing(sandbox, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(build, "read_top_up", refuse_connection)
        with pytest.raises(CommandError, match=r"Start again, or start with DEMO=empty\."):
            call_command("seed_demo", verbosity=0)
    assert row_counts()["Job"] == row_counts()["User"] == 0

    call_command("seed_demo", verbosity=0)

    assert Job.objects.exists()
    assert balance_difference(Account.objects.select_related("ledger").get().ledger) == 0
    rows, world = row_counts(), sandbox.world.snapshot()
    call_command("seed_demo", verbosity=0)
    assert row_counts() == rows
    assert {**sandbox.world.snapshot(), "note": []} == {**world, "note": []}


@pytest.mark.parametrize("now", examples(MOMENTS[:1], MOMENTS))
def test_the_credits_last_whenever_it_is_made(sandbox, monkeypatch, now):
    """Also in the day after a failed top-up, in which none is tried."""
    at = datetime.fromisoformat(now).replace(tzinfo=UTC)
    sandbox.clock.set_mode("real", now=at.timestamp())
    monkeypatch.setattr(timezone, "now", lambda: at)
    admin = SandboxAdmin(f"{ADDRESS}/v2")
    past = build.replay_past(admin, SHARED_ACCOUNT, TOKEN_OWNERS, ZoneInfo("Europe/Stockholm"))
    assert top_up_failure_time(past.answers)


def refuse_connection(*_: Any) -> None:
    raise ConnectionRefused(OPERATIONS["top_up.get"])


@pytest.mark.parametrize("hour", [0, 9, 23])
def test_the_plan_is_the_same_each_time_and_ends_before_the_present(hour):
    now = datetime(2026, 11, 24, hour, 5, tzinfo=UTC)
    first = now.date() - timedelta(days=PAST_DAYS)
    videos = plan_videos(first, now, OFFERED, {"ai-visuals", "b-roll"})

    assert videos == plan_videos(first, now, OFFERED, {"ai-visuals", "b-roll"})
    assert all(video.at < now for video in videos)
    assert [video.at for video in videos] == sorted(video.at for video in videos)
    by_day = Counter(video.at.weekday() for video in videos)
    assert max(by_day[day] for day in (5, 6)) < min(by_day[day] for day in range(5))
    assert len({video.title for video in videos}) == len(videos)
