"""The demo's past: all sums agree, a second start changes nothing, and it can be left out."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from django.apps import apps
from django.contrib.auth.hashers import check_password
from django.core.management import CommandError, call_command
from django.db.models import Sum
from django.utils import timezone

from dashboard.alerts.evaluate import evaluate_team
from dashboard.demo.demo_team import SHARED_ACCOUNT, TOKEN_OWNERS
from dashboard.demo.history import build
from dashboard.demo.history.account import (
    OPENING_CREDITS,
    OUTSIDE_SPENDS,
    top_up_failure_time,
)
from dashboard.demo.history.plan import PAST_DAYS, OptionPool, plan_videos
from dashboard.demo.sandbox_admin import SandboxAdmin
from dashboard.maintenance.audit_chain import verify_team_chain
from dashboard.management.commands import seed_demo
from dashboard.models import (
    AlertEvent,
    AlertKind,
    ApprovalRequest,
    AuditEvent,
    Label,
    Preset,
    Team,
    VoiceConsent,
)
from dashboard.shared.storyboards.scene_states import SceneState, load_scene_rows
from dashboard.studio.flows import FLOWS
from proxyapi import calls, cloned_voices
from proxyapi.ledger.reconciliation import balance_difference
from proxyapi.models import (
    Account,
    AutoTopUp,
    Charge,
    ChargeState,
    Idea,
    Job,
    JobKind,
    JobState,
    LedgerEntry,
    MonthlyPriceCount,
    RenderDurations,
    Storyboard,
    Token,
)
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import OPERATIONS
from proxyapi.upstream.client import UpstreamClient
from proxyapi.upstream.errors import ConnectionRefused
from tests.proxyapi.money.in_process_sandbox import ADDRESS, InProcessSandbox

OFFERED = OptionPool([2114, 2117], [41, 42], [11, 12, 14, 17], [811])


@pytest.fixture
def sandbox(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The portal and its seed command talk to a sandbox in this process, on the machine's clock."""
    settings.VIDEO_API_BASE_URL, settings.VIDEO_API_IS_SANDBOX = f"{ADDRESS}/v2", True
    settings.VAR, settings.DEMO = tmp_path, "full"
    with asyncio.Runner() as loop:
        made = InProcessSandbox(tmp_path / "media", loop)
        made.clock.set_mode("real", now=timezone.now().timestamp())

        def send(_: SandboxAdmin, method: str, path: str, body: Any = None) -> Any:
            with httpx.Client(transport=made, base_url=ADDRESS) as client:
                return client.request(method, path, json=body).raise_for_status().json()

        monkeypatch.setattr(SandboxAdmin, "_request", send)
        with UpstreamClient(f"{ADDRESS}/v2", OPERATIONS, transport=made) as client:
            monkeypatch.setattr(calls, "upstream_client", lambda: client)
            yield made


def row_counts() -> Counter[str]:
    models = [*apps.get_app_config("proxyapi").get_models()]
    models += apps.get_app_config("dashboard").get_models()
    return Counter({model.__name__: model._default_manager.count() for model in models})


@pytest.mark.django_db
def test_the_books_agree_to_the_credit(sandbox):
    call_command("seed_demo", verbosity=0)

    account = Account.objects.select_related("ledger").get()
    upstream = next(it for it in sandbox.world.accounts if it.id == account.upstream_id)
    entries = LedgerEntry.objects.filter(account=account)
    assert entries.aggregate(sum=Sum("amount"))["sum"] + OPENING_CREDITS == upstream.balance
    assert (account.balance, account.ledger.balance_exact) == (upstream.balance,) * 2
    assert balance_difference(account.ledger) == Decimal(0)
    ledger = sandbox.world.ledgers[upstream.id]
    assert (account.ledger.low, account.ledger.high) == (0, len(ledger))
    assert not entries.filter(via_api=None).exists()

    spent = Charge.objects.filter(state__in=CHARGED_STATES)
    debits = entries.filter(charge__isnull=False, amount__lt=0)
    assert not Charge.objects.without_debit().exists()
    assert spent.aggregate(sum=Sum("cost"))["sum"] == -debits.aggregate(sum=Sum("amount"))["sum"]
    assert set(debits.values_list("confidence", flat=True)) == {"certain"}
    outside = entries.filter(charge=None, amount__lt=0)
    assert {row.label for row in outside.filter(via_api=False)} == {
        spend.label for spend in OUTSIDE_SPENDS
    }
    assert outside.filter(via_api=True).count() == 2, "a script of another program, and its render"


def check_audit_log(team: Team) -> None:
    """It is as old as what it is about, in the order of time, and its chain is intact."""
    entries = AuditEvent.objects.filter(team_id=team.pk).order_by("position")
    times = list(entries.values_list("happened_at", flat=True))
    assert times == sorted(times)
    assert times[0] == min(Token.objects.values_list("created_at", flat=True))
    audited = Counter(entries.values_list("action", flat=True))
    assert audited["charge.create"] == Charge.objects.filter(approval_request=None).count()
    assert (audited["token.add"], audited["budget.add"], audited["top_up.change"]) == (3, 3, 1)
    assert audited["approval_request.create"] == ApprovalRequest.objects.count()
    assert audited["approval_request.decline"] > 0
    assert not verify_team_chain(team.pk).problem


@pytest.mark.django_db
def test_the_past_has_everything_that_a_team_meets(sandbox):
    call_command("seed_demo", verbosity=0)

    team = Team.objects.get()
    jobs, now = Job.objects.videos(), timezone.now()
    done = jobs.filter(state=JobState.COMPLETED)
    types = set(done.filter(kind=JobKind.FACELESS).values_list("draft__settings__type", flat=True))
    assert types == set(FLOWS)
    assert {member.first_name for member in {job.member for job in done}} == {
        "Mira",
        "Priya",
        "Luca",
    }
    assert jobs.filter(state=JobState.FAILED, kind=JobKind.FACELESS).count() == 2
    assert done.filter(kind=JobKind.CLIP).count() == 5
    assert Charge.objects.filter(job__kind=JobKind.CLIP, refunded_at__isnull=False).count() == 1
    assert Charge.objects.filter(state=ChargeState.MATCHED, cost__gt=0).count() == 1
    assert ApprovalRequest.objects.filter(decision="").count() == 1
    kinds = set(AlertEvent.objects.values_list("rule__kind", flat=True))
    assert kinds >= {AlertKind.BALANCE, AlertKind.TOP_UP_FAILED, AlertKind.APPROVAL_REQUEST}
    assert Idea.objects.count() == 40 and Idea.objects.exclude(charge=None).count() == 40
    assert Idea.objects.filter(origins__job__state=JobState.DRAFT).count() == 1
    top_ups = LedgerEntry.objects.filter(content_type="top-up")
    assert top_ups.count() >= 2
    assert AutoTopUp.objects.get().enabled
    renders = RenderDurations.objects.filter(kind=JobKind.FACELESS)
    assert {row.subtype for row in renders} == set(FLOWS)
    assert MonthlyPriceCount.objects.filter(operation="faceless.render").exists()
    assert Label.objects.filter(jobs__in=done).distinct().count() == 3
    assert set(Preset.objects.values_list("type", flat=True)) == {"ai-visuals", "b-roll"}
    for preset in Preset.objects.all():
        assert preset.used_count == preset.origins.count() > 0
        assert preset.last_used_at
        assert preset.last_used_at > preset.created_at
    latest = max(job.finished_at or job.created_at for job in jobs)
    first = min(job.created_at for job in jobs)
    assert latest < now
    assert now - first < timedelta(days=PAST_DAYS + 1)
    check_audit_log(team)
    assert not evaluate_team(team.pk), "the alerts that hold now were reported at their time"


@pytest.mark.django_db
def test_the_past_has_a_cloned_voice_with_its_consent(sandbox):
    call_command("seed_demo", verbosity=0)

    voice = Job.objects.get(kind=JobKind.CLONE)
    assert (voice.state, bool(voice.media_url)) == (JobState.COMPLETED, True)
    listed = cloned_voices.listed_voices(voice.account)
    voices = cloned_voices.cloned_voice_ids(voice.account, listed)
    assert [clone.job for clone in voices.values()] == [voice]
    consent = VoiceConsent.objects.get()
    assert (consent.job, consent.charge) == (voice, voice.charges.get(cost=0))
    assert len(consent.samples[0]["sha256"]) == 64


@pytest.mark.django_db
def test_the_past_has_two_trained_characters_and_one_that_is_not(sandbox):
    call_command("seed_demo", verbosity=0)

    characters = Job.objects.filter(kind=JobKind.CHARACTER).order_by("created_at")
    assert [(row.title, row.state) for row in characters] == [
        ("Ingrid", JobState.COMPLETED),
        ("Henrik", JobState.COMPLETED),
        ("Otto", JobState.DRAFT),
    ]
    assert all(row.parts.exists() and row.character_photo.confirmed_by for row in characters)
    trainings = Charge.objects.filter(operation="characters.train")
    assert [charge.cost for charge in trainings] == [10, 10]
    assert LedgerEntry.objects.filter(charge__in=trainings, amount=-10).count() == 2
    options = Account.objects.get().options["optional"]["characters"]
    assert {"Ingrid", "Henrik"} <= {row["name"] for row in options if row["status"] == "ready"}


@pytest.mark.django_db
def test_the_past_has_a_rendered_storyboard_and_one_in_work(sandbox):
    call_command("seed_demo", verbosity=0)

    film = Storyboard.objects.get(title="Night train north")
    assert film.copy is not None
    assert (film.copy.state, bool(film.copy.media_url)) == (JobState.COMPLETED, True)
    states = [row.state for row in load_scene_rows(film)]
    assert states == [SceneState.READY] * 4
    render = film.copy.charges.get(operation="text_to_scene.render")
    assert render.cost == film.copy.draft.estimate == 42
    assert LedgerEntry.objects.get(charge=render).amount == -42

    work = Storyboard.objects.get(title="Harbour, one morning")
    assert work.copy is not None and work.copy.state == JobState.DRAFT
    states = [row.state for row in load_scene_rows(work)]
    assert states == ["ready", "ready", "changed", "failed", "no_clip", "no_clip"]
    orders = work.copy.charges.filter(operation="text_to_scene.clips")
    assert sum(len(order.body["scenes"]) for order in orders) == 4
    assert all(part.charge in orders for part in work.copy.parts.all())


@pytest.mark.django_db
def test_a_second_start_changes_nothing(sandbox):
    call_command("seed_demo", verbosity=0)
    rows, world = row_counts(), sandbox.world.snapshot()

    call_command("seed_demo", verbosity=0)

    assert row_counts() == rows
    assert {**sandbox.world.snapshot(), "note": []} == {**world, "note": []}


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
def test_after_a_start_that_failed_half_way_the_next_one_is_whole(sandbox, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(build, "read_top_up", refuse_connection)
        with pytest.raises(CommandError, match=r"Start again, or start with DEMO=empty\."):
            call_command("seed_demo", verbosity=0)
    assert row_counts()["Job"] == row_counts()["User"] == 0

    call_command("seed_demo", verbosity=0)

    assert Job.objects.exists()
    assert balance_difference(Account.objects.select_related("ledger").get().ledger) == 0


@pytest.mark.parametrize(
    "now", ["2026-11-26 15:05", "2026-12-19 01:49", "2027-03-13 14:00", "2027-05-01 08:30"]
)
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
