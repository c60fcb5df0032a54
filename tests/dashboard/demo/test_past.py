"""The demo's past: everything that a team meets is in it, and all sums agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from dashboard.alerts.evaluate import evaluate_team
from dashboard.demo.history.account import (
    OPENING_CREDITS,
    OUTSIDE_SPENDS,
)
from dashboard.demo.history.plan import PAST_DAYS
from dashboard.maintenance.audit_chain import verify_team_chain
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
from proxyapi import cloned_voices
from proxyapi.ledger.reconciliation import balance_difference
from proxyapi.models import (
    Account,
    ApiKey,
    AutoTopUp,
    Charge,
    ChargeState,
    Draft,
    GatewayRequest,
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
from tests.dashboard.demo.demo_sandbox import demo_sandbox
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def past(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[InProcessSandbox]:
    """The sandbox of a demo whose past was made once for all tests of this file."""
    with (
        django_db_blocker.unblock(),
        transaction.atomic(),
        demo_sandbox(tmp_path_factory.mktemp("past")) as sandbox,
    ):
        call_command("seed_demo", verbosity=0)
        yield sandbox
        transaction.set_rollback(True)


def test_the_books_agree_to_the_credit(past):
    account = Account.objects.select_related("ledger").get()
    upstream = next(it for it in past.world.accounts if it.id == account.upstream_id)
    entries = LedgerEntry.objects.filter(account=account)
    assert entries.aggregate(sum=Sum("amount"))["sum"] + OPENING_CREDITS == upstream.balance
    assert (account.balance, account.ledger.balance_exact) == (upstream.balance,) * 2
    assert balance_difference(account.ledger) == Decimal(0)
    ledger = past.world.ledgers[upstream.id]
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


def test_the_past_has_everything_that_a_team_meets(past):
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


def test_the_past_has_a_script_with_its_key(past):
    key = ApiKey.objects.get()
    assert (key.name, key.owner.first_name) == ("social loops", "Luca")
    made = Job.objects.filter(api_key=key)
    assert made.count() == 2 and not Draft.objects.filter(job__in=made).exists()
    charges = Charge.objects.filter(api_key=key)
    assert set(charges.values_list("job", flat=True)) == {job.pk for job in made}
    assert all(charge.cost and charge.entries.exists() for charge in charges)
    approval = ApprovalRequest.objects.get(charge__in=charges)
    assert approval.decision == "approved"
    assert approval.decided_by and approval.decided_by.first_name == "Thea"
    assert approval.requested_at == approval.charge.created_at
    assert approval.decided_at and approval.decided_at > approval.requested_at
    rows = GatewayRequest.objects.filter(key=key)
    assert rows.filter(is_replayed=True, charge__in=charges).count() == 1
    assert rows.filter(status=429).count() == 1
    assert rows.filter(charge__in=charges, is_replayed=False).count() == 2
    assert rows.latest("received_at").received_at < timezone.now()
    assert AuditEvent.objects.get(action="api_key.create").happened_at == key.created_at


def test_the_past_has_a_cloned_voice_with_its_consent(past):
    voice = Job.objects.get(kind=JobKind.CLONE)
    assert (voice.state, bool(voice.media_url)) == (JobState.COMPLETED, True)
    listed = cloned_voices.listed_voices(voice.account)
    voices = cloned_voices.cloned_voice_ids(voice.account, listed)
    assert [clone.job for clone in voices.values()] == [voice]
    consent = VoiceConsent.objects.get()
    assert (consent.job, consent.charge) == (voice, voice.charges.get(cost=0))
    assert len(consent.samples[0]["sha256"]) == 64


def test_the_past_has_two_trained_characters_and_one_that_is_not(past):
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


def test_the_past_has_a_rendered_storyboard_and_one_in_work(past):
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
