"""The operations page: what it says of money, requests, the service, delays, tokens and keys."""

from __future__ import annotations

import json
import re
import time
import tomllib
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard import __version__
from dashboard.models import AlertEvent, AuditChainCheck, Delivery, Membership
from dashboard.monitoring.queues import QUEUES
from dashboard.operations.queries.page import OperationsPage, build_operations_page
from proxyapi import calls, rate_limiter
from proxyapi.clock_offset import ClockSource, store_clock_offset
from proxyapi.models import (
    ApiCall,
    ChargeState,
    Job,
    JobState,
    ServiceQuarter,
    Token,
    TokenState,
)
from proxyapi.rate_limiter import Priority
from proxyapi.redis_client import connect_redis
from proxyapi.service_quarters import quarter_start
from proxyapi.tasks import TICK_HEARTBEAT_KEY
from tests.factories import AccountFactory, ChargeFactory, EntryFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Client]
HTMX = {"HX-Request": "true"}


@pytest.fixture
def token(priya: Membership) -> Token:
    account = AccountFactory.create(tenant=priya.team.tenant, name="Studio")
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def job(token: Token) -> Job:
    return JobFactory.create(account=token.account, token=token, title="Whales in fog")


def page_of(reader: Membership) -> OperationsPage:
    return build_operations_page(reader)


def add_call(token: Token, priority: Priority | None, seconds_ago: float = 1) -> None:
    ApiCall.objects.create(
        tenant_id=token.tenant_id,
        token=token,
        operation="me.get",
        outcome="answered",
        status=200,
        milliseconds=200,
        priority=priority,
        sent_at=timezone.now() - timedelta(seconds=seconds_ago),
    )


def test_an_unknown_charge_is_credits_with_unknown_outcome(
    job: Job, mira: Membership, client_of: Browser
) -> None:
    sent_at = timezone.now() - timedelta(minutes=62)
    ChargeFactory.create(job=job, state=ChargeState.UNKNOWN, hold=Decimal(42), sent_at=sent_at)
    page = page_of(mira)
    assert (page.money.unknown_count, page.money.unknown) == (1, Decimal(42))
    assert page.money.figure.kind == "unknown"
    assert page.items[0].title == "One charge is unknown"
    assert page.note.endswith("One thing needs attention.")
    assert "1 h 02 min" in page.items[0].text
    text = client_of(mira).get("/operations/").content.decode()
    assert '<h2 class="soft">Credits with unknown outcome</h2>' in text


def test_nothing_at_risk_is_a_plain_nought(mira: Membership, client_of: Browser) -> None:
    page = page_of(mira)
    assert (page.money.figure.value, page.money.figure.kind) == (0, "exact")
    assert page.items == ()
    text = client_of(mira).get("/operations/").content.decode()
    assert "Nothing needs attention." in text and "No token yet" in text


@pytest.mark.parametrize(("role", "url"), [("owner", "/alerts/deliveries/"), ("admin", "/alerts/")])
def test_a_failing_webhook_leads_to_what_its_reader_may_open(
    role: str, url: str, mira: Membership
) -> None:
    event = AlertEvent.objects.create(team=mira.team, subject="x", state="late", title="Low")
    Delivery.objects.create(event=event, channel="webhook", address="x.example", state="failed")
    mira.role = role
    (item,) = page_of(mira).items
    assert (item.title, item.url) == ("The webhook of x.example fails", url)


def test_old_holds_refunds_and_unexplained_debits_are_summed(job: Job, mira: Membership) -> None:
    now = timezone.now()
    old = now - timedelta(hours=2)
    ChargeFactory.create(job=job, state=ChargeState.HELD, hold=Decimal(46), held_at=old)
    owed = JobFactory.create(account=job.account, token=job.token)
    ChargeFactory.create(
        job=owed,
        state=ChargeState.CONFIRMED,
        sent_at=now,
        hold=Decimal(98),
        cost=Decimal(98),
        refund_owed_at=now,
    )
    job.account.created_at = now - timedelta(days=90)
    job.account.save()
    EntryFactory.create(account=job.account, amount=-134, happened_at=old)
    money = page_of(mira).money
    assert (money.old_holds, money.refunds_owed) == (Decimal(46), Decimal(98))
    assert (money.outside_count, money.outside) == (1, Decimal(134))


def test_the_minute_of_a_token_is_split_by_kind(token: Token, mira: Membership) -> None:
    store = connect_redis()
    for priority in (Priority.PERSON, Priority.POLLING, Priority.SETTLEMENT):
        rate_limiter.try_acquire(store, token.bucket, priority)
        add_call(token, priority)
    # Another program with this token took one as well.
    rate_limiter.apply_rate_limit_headers(store, token.bucket, 30, 26)
    (use,) = page_of(mira).requests.shown
    tones = [block.tone for block in use.blocks]
    assert len(tones) == 30
    assert {tone: tones.count(tone) for tone in dict.fromkeys(tones)} == {
        "people": 1,
        "watching": 2,
        "other": 1,
        "free": 24,
        "kept": 2,
    }
    assert use.remaining == 26
    assert "people 1, API keys and batches 0, watching 2, ledger 0, not" in use.sentence


def test_the_last_thirty_minutes_are_columns(
    token: Token, mira: Membership, time_machine: Any
) -> None:
    # A second ago is this minute.
    time_machine.move_to(timezone.now().replace(second=30), tick=False)
    add_call(token, Priority.PERSON)
    add_call(token, Priority.LEDGER_SYNC, seconds_ago=601)
    add_call(token, Priority.PERSON, seconds_ago=40 * 60)
    (use,) = page_of(mira).requests.shown
    assert use.minutes_sentence == "2 requests in the last 30 minutes"
    newest, older = sorted(use.columns, key=lambda bar: -bar.x)
    assert (newest.tone, older.tone) == ("people", "ledger")
    assert 96 < newest.x < 97 and newest.height == pytest.approx(100 / 30)


def test_a_stopped_token_shows_its_state_in_place_of_a_minute(
    token: Token, mira: Membership
) -> None:
    Token.objects.update(state=TokenState.REVOKED)
    page = page_of(mira)
    (use,) = page.requests.shown
    assert (use.remaining, use.blocks, use.status.state) == (None, (), "paused")
    assert page.items[0].title == "The token of Priya Raman stopped working"
    assert page.tokens[0].advice == "Stopped, replace it"


def test_a_quarter_without_answers_is_an_incident(mira: Membership) -> None:
    now = quarter_start(timezone.now())
    rows = [(3, 0, 40, 900), (2, 0, 40, None), (1, 30, 0, 200), (0, 30, 0, 210)]
    for ago, answered, unanswered, median_ms in rows:
        ServiceQuarter.objects.create(
            tenant=mira.team.tenant,
            starts_at=now - ago * timedelta(minutes=15),
            answered=answered,
            unanswered=unanswered,
            median_ms=median_ms,
            codes={"NO-ANSWER": unanswered} if unanswered else {},
        )
    day = page_of(mira).service
    assert [bar.tone for bar in day.bars] == ["away", "away", "up", "up"]
    (incident,) = day.incidents
    assert incident.detail == "30 min, 80 requests without an answer"
    assert day.sentence.startswith("42.9 % of 140 requests were answered")
    assert [(code.code, code.count) for code in day.codes] == [("NO-ANSWER", 80)]


def test_no_request_is_said_as_such(mira: Membership) -> None:
    day = page_of(mira).service
    assert (day.bars, day.sentence) == ((), "No request was sent in the last 24 hours.")


def test_the_delay_is_the_span_between_two_polls(token: Token, mira: Membership) -> None:
    now = timezone.now()
    for seconds in range(1, 21):
        JobFactory.create(
            account=token.account,
            token=token,
            state=JobState.COMPLETED,
            remote_id=str(seconds),
            polled_at=now - timedelta(seconds=seconds),
            finished_at=now,
        )
    delay = page_of(mira).delay
    assert (delay.finished, delay.median_s, delay.p95_s) == (20, 10.0, 19.0)


def test_a_render_whose_last_poll_failed_is_counted(
    token: Token, mira: Membership, client_of: Browser
) -> None:
    for failing_since in (None, timezone.now()):
        JobFactory.create(
            account=token.account,
            token=token,
            state=JobState.RUNNING,
            remote_id=str(failing_since),
            poll_failing_since=failing_since,
            next_poll_at=timezone.now(),
        )
    text = client_of(mira).get("/operations/").content.decode()
    assert re.search(r"Renders in progress</dt>\s*<dd[^>]*>2<", text)
    assert re.search(r"Last check failed</dt>\s*<dd[^>]*>1<", text)


def test_no_finished_render_gives_no_figure(mira: Membership, client_of: Browser) -> None:
    assert page_of(mira).delay.median_s is None
    assert "none yet" in client_of(mira).get("/operations/").content.decode()


@pytest.mark.parametrize(
    ("age", "used", "advice"),
    [
        (10, 1, "Nothing to do"),
        (50, 42, "Unused for 42 days"),
        (50, None, "Unused for at least 30 days"),
        (400, 1, "Older than a year"),
    ],
)
def test_a_token_gets_advice_by_its_age_and_use(
    age: int, used: int | None, advice: str, token: Token, mira: Membership
) -> None:
    Token.objects.update(created_at=timezone.now() - timedelta(days=age))
    if used is not None:
        add_call(token, Priority.PERSON, seconds_ago=used * 86_400)
    (row,) = page_of(mira).tokens
    assert (row.advice, row.refused_at, row.shared) == (advice, "never", "")


def test_a_render_of_yesterday_is_a_use_although_its_calls_were_deleted(
    token: Token, mira: Membership
) -> None:
    Token.objects.update(created_at=timezone.now() - timedelta(days=50))
    job = JobFactory.create(account=token.account, token=token)
    ChargeFactory.create(job=job, sent_at=timezone.now() - timedelta(days=1))
    (row,) = page_of(mira).tokens
    assert row.advice == "Nothing to do"
    assert row.last_used != "no record"


def test_a_stopped_token_is_asked_for_and_ones_own_is_replaced(
    token: Token, mira: Membership, jonas: Membership, client_of: Browser
) -> None:
    own = TokenFactory.create(account=token.account, owner=mira.user)
    Token.objects.update(state=TokenState.REVOKED)
    rows = {row.owner: row for row in page_of(mira).tokens}
    assert "token-requests" in rows["Priya Raman"].ask_url and rows["Mira Sandvik"].replace_url
    assert "Ask Priya" in client_of(mira).get("/operations/").content.decode()
    # An admin cannot press for an owner.
    of_owner = next(row for row in page_of(jonas).tokens if row.last_four == own.last_four)
    assert (of_owner.ask_url, of_owner.replace_url) == ("", "")


def test_the_last_401_outlives_the_token_that_works_again(token: Token, mira: Membership) -> None:
    calls.change_token_state(token, TokenState.REVOKED)
    (row,) = page_of(mira).tokens
    refused_at = row.refused_at
    assert refused_at not in ("", "never")
    Token.objects.update(state=TokenState.WORKING)
    (row,) = page_of(mira).tokens
    assert (row.advice, row.refused_at) == ("Nothing to do", refused_at)


def test_a_shared_account_is_named(token: Token, luca: Membership, mira: Membership) -> None:
    TokenFactory.create(account=token.account, owner=luca.user)
    assert {row.shared for row in page_of(mira).tokens} == {"shared by two tokens"}


def test_keys_are_listed_with_what_needs_them(token: Token, mira: Membership) -> None:
    keys = page_of(mira).keys
    assert (keys.total, keys.under_current, keys.is_rotating) == (1, 1, False)
    assert next((row.tokens, row.text) for row in keys.rows) == (1, "Active")


def test_a_secret_whose_key_is_gone_is_named(token: Token, mira: Membership) -> None:
    Token.objects.update(ciphertext=bytes((1, 3)) + b"old" + bytes(60))
    keys = page_of(mira).keys
    assert keys.is_rotating
    (row,) = [row for row in keys.rows if row.key_id == "old"]
    assert (row.state, row.tokens) == ("failed", 1)


def test_a_missing_worker_is_said_first(mira: Membership) -> None:
    connect_redis().delete("reelroom:heartbeat")
    page = page_of(mira)
    assert page.note.startswith("Not everything runs: Workers and beat.")
    state = next(one for one in page.processes if one.name == "Workers and beat")
    assert "No charge is lost" in state.text


def test_a_worker_that_is_silent_for_seconds_is_late_on_a_page_that_refreshes_each_five(
    mira: Membership, client_of: Browser
) -> None:
    since = (timezone.now() - timedelta(seconds=5)).isoformat()
    connect_redis().set(TICK_HEARTBEAT_KEY, since)
    message = json.dumps({"headers": {"enqueued_at": time.time() - 5}})
    for queue in QUEUES:
        connect_redis().lpush(f"reelroom:{queue}", message)
    late = {one.name: one.value for one in page_of(mira).processes if one.state == "late"}
    assert re.fullmatch(r"seen \d+ s ago", late["Workers and beat"])
    for row in QUEUES.values():
        assert re.fullmatch(r"silent for \d+ s", late[row.worker])
    part = client_of(mira).get("/operations/?part=processes", headers=HTMX).content.decode()
    assert 'hx-trigger="every 5s"' in part
    assert "silent for" in part


def test_a_broken_audit_chain_needs_a_person(mira: Membership) -> None:
    AuditChainCheck.objects.create(pk=mira.team_id, broken_position=2, problem="Row 2 was changed.")
    assert [item.title for item in page_of(mira).items] == ["The audit chain is broken"]


def test_without_redis_the_page_still_answers(
    token: Token, mira: Membership, client_of: Browser, settings: Any, tmp_path: Path
) -> None:
    settings.REDIS_URL = f"unix://{tmp_path}/nobody.sock"
    answer = client_of(mira).get("/operations/?part=body", headers=HTMX)
    assert answer.status_code == 200
    assert "Redis does not answer" in answer.content.decode()


def test_the_page_takes_the_same_queries_for_many_tokens(token: Token, mira: Membership) -> None:
    page_of(mira)
    with CaptureQueriesContext(connection) as few:
        page_of(mira)
    for _ in range(5):
        other = TokenFactory.create(account=token.account, owner=mira.user)
        add_call(other, Priority.POLLING)
    with CaptureQueriesContext(connection) as many:
        page_of(mira)
    assert len(many) == len(few) <= 20


def test_only_owners_and_admins_have_the_page(
    mira: Membership, jonas: Membership, thea: Membership, client_of: Browser
) -> None:
    assert [client_of(one).get("/operations/").status_code for one in (mira, jonas, thea)] == [
        200,
        200,
        404,
    ]
    assert "Operations" in client_of(jonas).get("/members/").content.decode()
    assert "/operations/" not in client_of(thea).get("/members/").content.decode()


def test_another_teams_calls_and_charges_are_not_in_it(job: Job, otto: Membership) -> None:
    ChargeFactory.create(job=job, state=ChargeState.UNKNOWN, sent_at=timezone.now())
    page = page_of(otto)
    assert page.money.unknown_count == 0 and page.tokens == () and page.items == ()


def test_the_version_is_that_of_the_project(settings: Any) -> None:
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    assert project["project"]["version"] == __version__


@pytest.mark.parametrize(
    ("source", "hours", "name", "sentence"),
    [
        (ClockSource.DATE_HEADER, 3, "Clock of this server", "It is 3 h behind the service's."),
        (ClockSource.DATE_HEADER, -3, "Clock of this server", "It is 3 h ahead of the service's."),
        (ClockSource.LEDGER, 1, "Clock of the ledger", "was recorded 1 h after its request."),
    ],
)
def test_a_clock_that_differs_is_a_failed_row(
    source: ClockSource, hours: int, name: str, sentence: str, mira: Membership
) -> None:
    store_clock_offset(source, timedelta(hours=hours))
    (row,) = [one for one in page_of(mira).processes if one.name.startswith("Clock")]
    assert (row.name, row.state) == (name, "failed")
    assert row.value == f"differs by {abs(hours)} h" and sentence in row.text
    store_clock_offset(source, timedelta(seconds=30))
    assert not [one for one in page_of(mira).processes if one.name.startswith("Clock")]
