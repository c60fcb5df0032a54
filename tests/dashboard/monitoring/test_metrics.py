"""/metrics: who may read it, what it says, and what a scrape costs."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal

import pytest
import redis
from django.db import DatabaseError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from dashboard.celery import app
from dashboard.models import Team
from dashboard.monitoring import metrics, queues, readiness
from proxyapi import redis_client, viewers
from proxyapi.models import ApiCall, Charge, ChargeState, Job, JobState, ServiceQuarter
from proxyapi.rate_limiter import apply_rate_limit_headers
from proxyapi.redis_client import connect_redis
from proxyapi.service_quarters import quarter_start
from tests.factories import ChargeFactory, EntryFactory, JobFactory, TokenFactory

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
TOKEN = "a-token-of-the-tests-alone-0123456789"


@pytest.fixture(autouse=True)
def no_earlier_page(settings, monkeypatch):
    settings.METRICS_TOKEN = TOKEN
    monkeypatch.setattr(metrics, "_page_at_s", -metrics.CACHE_S)
    connect_redis().flushdb()


def scrape(client: Client | None = None) -> dict[tuple[str, str], float]:
    """Each value by the name of its gauge and the value of its label."""
    answer = (client or Client()).get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain; version=")
    return {
        (sample.name, "".join(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(answer.content.decode())
        for sample in family.samples
    }


@pytest.mark.parametrize(
    ("setting", "header", "status"),
    [
        (TOKEN, f"Bearer {TOKEN}", 200),
        (TOKEN, f"bearer {TOKEN}", 200),
        (TOKEN, "", 404),
        (TOKEN, "Basic cHJvbWV0aGV1czp4", 404),
        (TOKEN, f"Bearer {TOKEN}x", 401),
        (TOKEN, "Bearer", 401),
        (TOKEN, "Bearer ü", 401),
        ("", "Bearer ", 404),
        ("", f"Bearer {TOKEN}", 404),
    ],
)
def test_the_page_exists_for_its_token_alone(client, settings, setting, header, status):
    settings.METRICS_TOKEN = setting
    answer = client.get("/metrics", headers={"Authorization": header} if header else {})
    assert answer.status_code == status
    assert (b"reelroom_" in answer.content) is (status == 200)
    assert (answer.get("WWW-Authenticate") == "Bearer") is (status == 401)


def test_each_gauge_has_help_and_no_label_has_a_value_of_a_person(client):
    charge = ChargeFactory(state=ChargeState.UNKNOWN, sent_at=timezone.now(), code="<b>")
    ServiceQuarter.objects.create(
        tenant=charge.tenant,
        starts_at=quarter_start(timezone.now()),
        answered=7,
        unanswered=2,
        codes={"NO-ANSWER": 2, "GEN-UNAUTHORIZED": 1, "RATE-LIMITED": 3, "someone@example.com": 4},
    )
    text = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"}).content.decode()
    families = list(text_string_to_metric_families(text))

    assert {family.name for family in families} == set(metrics.GAUGES)
    assert all(family.documentation for family in families)
    for value in ("@", "<b>", str(charge.token_id), str(charge.tenant_id), charge.job.title):
        assert value not in text
    errors = {name: value for (gauge, name), value in scrape().items() if "errors" in gauge}
    assert {code: count for code, count in errors.items() if count} == {
        "NO-ANSWER": 2,
        "GEN-UNAUTHORIZED": 1,
        "RATE-LIMITED": 3,
        "other": 4,
    }
    assert scrape()["reelroom_service_calls", "unanswered"] == 2


def test_money_at_risk_and_the_oldest_charge_of_each_state() -> None:
    now = timezone.now()
    for minutes in (5, 90):
        ChargeFactory(
            state=ChargeState.UNKNOWN, sent_at=now - timedelta(minutes=minutes), hold=Decimal(40)
        )
    ChargeFactory(state=ChargeState.HELD, held_at=now - timedelta(seconds=30))
    ChargeFactory(state=ChargeState.CONFIRMED, sent_at=now, cost=1)
    owed = {"refund_owed_at": now - timedelta(days=3), "cost": Decimal(96)}
    ChargeFactory(state=ChargeState.CONFIRMED, sent_at=now, **owed)
    ChargeFactory(state=ChargeState.CONFIRMED, sent_at=now, refunded_at=now, **owed)

    values = scrape()

    assert values["reelroom_credits_at_risk", ""] == 80
    assert values["reelroom_charges", "unknown"] == 2
    assert values["reelroom_charges", "sending"] == 0
    assert values["reelroom_charge_oldest_age_seconds", "unknown"] == pytest.approx(5400, abs=60)
    assert values["reelroom_charge_oldest_age_seconds", "held"] == pytest.approx(30, abs=25)
    assert values["reelroom_charge_oldest_age_seconds", "draft"] == 0
    assert values["reelroom_refunds_owed", ""] == 1
    assert values["reelroom_refunds_owed_credits", ""] == 96
    owed_s = values["reelroom_refund_owed_oldest_age_seconds", ""]
    assert owed_s == pytest.approx(3 * 86400, abs=60)


def test_what_no_charge_explains_and_charges_without_a_debit() -> None:
    now = timezone.now()
    entry = EntryFactory()
    type(entry.account).objects.update(created_at=now - timedelta(days=9))
    EntryFactory(account=entry.account, happened_at=now - timedelta(days=2))
    EntryFactory(
        account=entry.account, charge=ChargeFactory(account=entry.account), confidence="certain"
    )
    for minutes in (10, 70):
        ChargeFactory(
            state=ChargeState.CONFIRMED, sent_at=now - timedelta(minutes=minutes), cost=Decimal(3)
        )

    values = scrape()

    assert values["reelroom_ledger_debits_unmatched", ""] == 1
    assert values["reelroom_charges_without_debit", ""] == 1


def test_how_late_polls_are() -> None:
    """Of forty jobs two are late, one more than the other: the median is not."""
    now, token = timezone.now(), TokenFactory()
    for late_s in (*[-300] * 37, 5, 60, 400):
        JobFactory(
            token=token,
            account=token.account,
            state=JobState.RUNNING,
            remote_id=f"r{Job.objects.count()}",
            next_poll_at=now - timedelta(seconds=late_s),
        )

    values = scrape()

    assert values["reelroom_running_jobs", ""] == 40
    assert values["reelroom_poll_lag_seconds", "0.5"] == 0
    assert values["reelroom_poll_lag_seconds", "0.95"] == pytest.approx(5, abs=4)


def test_requests_left_of_the_busy_tokens() -> None:
    busy, idle = TokenFactory(), TokenFactory()
    for token, sent_at in ((busy, timezone.now()), (idle, timezone.now() - timedelta(hours=1))):
        ApiCall.objects.create(
            tenant=token.tenant, token=token, operation="x", milliseconds=1, sent_at=sent_at
        )
    apply_rate_limit_headers(connect_redis(), busy.bucket, 30, 2)

    values = scrape()

    assert values["reelroom_busy_tokens", ""] == 1
    assert values["reelroom_requests_left_min", "person"] == 2
    assert values["reelroom_requests_left_min", "polling"] == 0
    assert values["reelroom_tokens_exhausted", "person"] == 0
    assert values["reelroom_tokens_exhausted", "polling"] == 1
    assert values["reelroom_tokens", "working"] == 2


def test_the_age_of_each_queue_is_that_of_its_oldest_message(monkeypatch) -> None:
    app.send_task("proxyapi.tasks.sync_ledger_task", ("1",))
    later = time.time() + 50
    monkeypatch.setattr(time, "time", lambda: later)
    app.send_task("proxyapi.tasks.sync_ledger_task", ("2",))

    states = queues.read_queues(connect_redis())

    assert states["slow"].messages == 2
    assert states["slow"].oldest_s == pytest.approx(50, abs=20)
    assert states["charges"] == (0, 0.0)
    monkeypatch.undo()
    connect_redis().lpush("reelroom:post", b'{"headers": {}}')  # of the release before
    assert queues.read_queues(connect_redis())["post"] == (1, 0.0)


def test_streams_of_all_processes_are_added_up(monkeypatch) -> None:
    viewers.record_streams(3)
    monkeypatch.setattr(viewers, "_PROCESS_ID", "another")
    viewers.record_streams(4)
    assert viewers.count_streams() == 7
    later = time.time() + viewers.VIEWER_TTL_S + 1
    monkeypatch.setattr(time, "time", lambda: later)
    viewers.record_streams(2)
    assert viewers.count_streams() == 2
    assert connect_redis().hlen(viewers.STREAMS_KEY) == 1


def test_a_scrape_costs_the_same_for_any_number_of_teams_and_none_for_a_while(client) -> None:
    with CaptureQueriesContext(
        connection,
    ) as few:
        scrape(client)
    for _ in range(5):
        ChargeFactory(state=ChargeState.UNKNOWN, sent_at=timezone.now())
        EntryFactory()
    metrics._page_at_s = -metrics.CACHE_S
    with CaptureQueriesContext(connection) as many:
        scrape(client)
    with CaptureQueriesContext(connection) as again:
        scrape(client)
    assert len(many) == len(few) <= metrics.MAX_QUERIES
    assert len(again) == 0


def test_without_redis_the_database_still_speaks(client, monkeypatch) -> None:
    ChargeFactory()
    nowhere = redis.Redis.from_url("unix:///nowhere/valkey.sock")
    monkeypatch.setattr(redis_client, "connect_redis", lambda: nowhere)

    values = scrape(client)

    assert values["reelroom_charges", "held"] == 1
    assert values["reelroom_source_unavailable", "redis"] == 1
    assert values["reelroom_source_unavailable", "database"] == 0
    assert values["reelroom_check_failed", "redis"] == 1
    assert ("reelroom_queue_messages", "work") not in values


def test_without_the_database_redis_still_speaks(client, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise DatabaseError

    monkeypatch.setattr(Charge.objects, "all", refuse)
    monkeypatch.setattr(readiness, "CHECKS", {"database": lambda: "away"})

    values = scrape(client)

    assert values["reelroom_source_unavailable", "database"] == 1
    assert values["reelroom_check_failed", "database"] == 1
    assert values["reelroom_queue_messages", "work"] == 0


def test_a_scrape_is_answered_before_anybody_has_signed_up(client) -> None:
    assert not Team.objects.exists()
    assert scrape(client)["reelroom_charges", "unknown"] == 0
