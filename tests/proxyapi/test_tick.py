"""The doorbell and the sweeper: a dead broker costs moments, a tick finds what nobody rang for."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone
from kombu import Connection
from kombu.exceptions import OperationalError

from dashboard.celery import app
from proxyapi import redis_client, tasks
from proxyapi.kinds import faceless_draft
from proxyapi.models import AccountPlan, Charge, ChargeState, Draft, Job, JobState
from proxyapi.models.job import MAX_JOB_CRASHES
from proxyapi.polling import job_quarantine
from tests.factories import AccountFactory, ChargeFactory, JobFactory

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
TASKS = ("poll_job_task", "quote_draft_task", "dispatch_charge_task", "reconcile_charge_task")


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, UUID]]:
    """Who was rung for, by task and id."""
    heard: list[tuple[str, UUID]] = []
    for name in (
        "poll_job_task",
        "quote_draft_task",
        "dispatch_charge_task",
        "reconcile_charge_task",
    ):
        monkeypatch.setattr(
            getattr(tasks, name), "delay", lambda id, *_, name=name: heard.append((name, UUID(id)))
        )
    return heard


def test_enqueueing_at_a_dead_broker_is_given_up_without_a_wait(tmp_path, monkeypatch):
    """Pages ring after a commit: nobody waits for a broker that is not there."""
    waits: list[float] = []
    monkeypatch.setattr("kombu.utils.functional.sleep", waits.append)
    dead = f"redis+socket://{tmp_path}/nobody.sock"
    with (
        Connection(dead, transport_options=app.conf.broker_transport_options) as broker,
        pytest.raises(OperationalError),
    ):
        assert broker.default_channel is not None
    assert waits == []


def test_rule_7_one_tick_enqueues_every_row_that_is_due(enqueued):
    ago = timezone.now() - timedelta(seconds=9)
    job = JobFactory.create(
        remote_id="7", state=JobState.RUNNING, started_at=ago, polled_at=ago, next_poll_at=ago
    )
    priced = JobFactory.create(draft__quote_due_at=ago)
    held = ChargeFactory.create(due_at=ago)
    lost = ChargeFactory.create(state=ChargeState.UNKNOWN, sent_at=ago, due_at=ago)
    tasks.tick()
    assert set(enqueued) == {
        ("poll_job_task", job.pk),
        ("quote_draft_task", priced.pk),
        ("dispatch_charge_task", held.pk),
        ("reconcile_charge_task", lost.pk),
    }
    assert {id for _, id in enqueued[:2]} == {held.pk, lost.pk}  # before any read
    assert redis_client.connect_redis().exists(tasks.TICK_HEARTBEAT_KEY)
    enqueued.clear()
    tasks.tick()
    assert enqueued == [], "each is leased to whom it was rung for"


def test_what_nobody_served_is_found_again_within_thirty_seconds(enqueued):
    ago = timezone.now() - timedelta(seconds=9)
    running = {"remote_id": "7", "state": JobState.RUNNING, "started_at": ago, "polled_at": ago}
    JobFactory.create(**running, next_poll_at=ago)
    JobFactory.create(draft__quote_due_at=ago)
    ChargeFactory.create(due_at=ago)
    tasks.tick()
    soon = timezone.now() + timedelta(seconds=30)
    assert Job.objects.due(soon).count() == 1
    assert Draft.objects.filter(quote_due_at__lte=soon).count() == 1
    assert Charge.objects.due(soon).count() == 1


def test_a_draft_whose_price_breaks_us_is_asked_five_times(monkeypatch):
    """Then its page says so, and an edit asks again."""
    ago = timezone.now() - timedelta(seconds=9)
    draft = JobFactory.create(draft__quote_due_at=ago)

    def broken(*_: object) -> None:
        raise RuntimeError("a draft that nobody foresaw")

    monkeypatch.setattr(faceless_draft, "missing_render_fields", broken)
    for _ in range(MAX_JOB_CRASHES):
        draft.refresh_from_db()
        assert draft.draft.quote_due_at is not None
        with pytest.raises(RuntimeError):
            tasks.quote_draft_task(str(draft.pk))
    draft.refresh_from_db()
    assert (draft.draft.quote_due_at, draft.draft.quote_error) == (
        None,
        job_quarantine.QUOTE_QUARANTINED_TEXT,
    )


def test_pitfall_85_a_lapsed_account_is_read_again_sooner_so_that_it_resumes_by_itself(
    monkeypatch: pytest.MonkeyPatch,
):
    def read(minutes: int, plan: AccountPlan) -> str:
        ago = timezone.now() - timedelta(minutes=minutes)
        known = {"options_as_of": ago, "refreshed_at": ago}
        return str(AccountFactory.create(plan=plan, **known).pk)

    lapsed, old, new = (
        read(3, AccountPlan.NONE),
        read(11, AccountPlan.PAID),
        str(AccountFactory.create().pk),
    )
    read(3, AccountPlan.PAID)
    read(1, AccountPlan.TRIAL)
    rung: list[str] = []
    monkeypatch.setattr(tasks.refresh_account_task, "delay", rung.append)
    tasks.refresh_due_accounts()
    assert sorted(rung) == sorted([lapsed, old, new])
