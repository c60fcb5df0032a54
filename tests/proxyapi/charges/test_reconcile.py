"""Settling: a lost answer is settled by reading resource and ledger, never by sending again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import reconcile_charge
from proxyapi.models import (
    Charge,
    ChargeState,
    Job,
    JobState,
    Token,
    TokenState,
)
from tests.factories import TokenFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    error_response,
    history_page,
    make_response,
)

Held = Callable[..., Charge]
LEDGER = ("GET", "/credits/history")
PLAN = "SUBSCRIPTION-REQUIRED"


@pytest.fixture
def unknown_charge(make_held_charge: Held) -> Callable[..., Charge]:
    """An unknown charge that was sent some seconds ago."""

    def make(
        operation: str = "faceless.render", seconds: int = 40, before: str = "draft"
    ) -> Charge:
        charge = make_held_charge(operation)
        Charge.objects.filter(pk=charge.pk).update(
            state=ChargeState.UNKNOWN,
            sent_at=timezone.now() - timedelta(seconds=seconds),
            before={"status": before, "script": ""},
        )
        charge.refresh_from_db()
        return charge

    return make


def debit(amount: str, seconds_ago: int = 30) -> dict[str, str]:
    booked = timezone.now() - timedelta(seconds=seconds_ago)
    return {"credit_spend": amount, "created_at": booked.isoformat(), "transaction_type": "Debit"}


def test_a_render_that_runs_and_a_debit_are_a_match(
    job: Job, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    upstream.respond(*LEDGER, history_page(debit("-94")))
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 94)
    assert job.state == JobState.RUNNING


def test_a_render_that_runs_without_its_debit_is_polled_and_stays_unknown(
    job: Job, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert job.state == JobState.RUNNING


def test_no_trace_after_half_a_minute_was_never_charged(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("-4", seconds_ago=3000)))
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
    assert charge.reason.startswith("It was never charged. The 106 cr held are released.")


@pytest.mark.parametrize(
    ("word", "state", "job_state"),
    [
        ("draft", ChargeState.REFUSED, JobState.DRAFT),
        ("queued", ChargeState.REFUSED, JobState.DRAFT),
        ("rendering", ChargeState.UNKNOWN, JobState.RUNNING),
        ("completed", ChargeState.UNKNOWN, JobState.RUNNING),
    ],
)
def test_an_unknown_earlier_status_proves_a_start_only_if_nothing_else_leads_to_it(
    word: str,
    state: str,
    job_state: str,
    job: Job,
    unknown_charge: Held,
    upstream: ScriptedUpstream,
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response(word)))
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge(before="")
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, job.state) == (state, job_state)


def test_no_trace_right_after_sending_proves_nothing(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge(seconds=10)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN


@pytest.mark.parametrize(
    ("alive", "booked_within", "state"),
    [(5, 1, "unknown"), (20, 30, "unknown"), (31, 30, "refused")],
)
def test_nothing_is_called_uncharged_while_its_worker_lives_nor_half_a_minute_after(
    alive: int,
    booked_within: int,
    state: str,
    unknown_charge: Held,
    upstream: ScriptedUpstream,
    settings: Any,
) -> None:
    """A sweep took it for dead, for it could not write its sign of life for a while."""
    settings.CHARGE_BOOKING_GRACE_S = booked_within
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge(seconds=300)
    Charge.objects.update(heartbeat_at=timezone.now() - timedelta(seconds=alive))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == state


@pytest.mark.parametrize("read", ["the token is gone", "the resource is gone", "the plan lapsed"])
@pytest.mark.parametrize("booked", [True, False])
def test_what_only_a_debit_proves_needs_no_resource(
    job: Job, unknown_charge: Held, upstream: ScriptedUpstream, read: str, booked: bool
) -> None:
    """The debit proves it, read with another token of the account; its absence proves nothing."""
    TokenFactory(account=job.account)
    if read == "the token is gone":
        Token.objects.filter(pk=job.token_id).update(state=TokenState.REMOVED)
    status, code = (404, "NOT-FOUND") if read == "the resource is gone" else (403, PLAN)
    upstream.respond("GET", "/faceless/7", error_response(status, code))
    upstream.respond(*LEDGER, history_page(debit("-96")) if booked else history_page())
    charge = unknown_charge("faceless.retry", before="failed")
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == (ChargeState.MATCHED if booked else ChargeState.UNKNOWN)


def test_where_the_resource_proves_it_a_debit_beside_it_proves_nothing(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", error_response(404, "NOT-FOUND"))
    upstream.respond(*LEDGER, history_page(debit("-96")))
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert upstream.request_bodies(*LEDGER) == []


def test_what_was_sent_before_the_clock_was_put_back_is_read_seldom(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    """It would be young for hours, and take the requests of the others."""
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge(seconds=-7200)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert charge.due_at is not None
    assert charge.due_at > timezone.now() + timedelta(minutes=9)


def test_a_retry_that_failed_again_is_proved_by_the_ledger(
    job: Job, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response("failed")))
    upstream.respond(*LEDGER, history_page(debit("-96")))
    charge = unknown_charge("faceless.retry", before="failed")
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 96)
    assert job.state == JobState.RUNNING


@pytest.mark.parametrize("before", ["completed", "queued", ""])
def test_what_a_retry_was_sent_in_spite_of_does_not_prove_it(
    before: str, job: Job, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response(before or "draft")))
    upstream.respond(*LEDGER, history_page())
    charge = unknown_charge("faceless.retry", before=before)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    job.refresh_from_db()
    assert (charge.state, job.state) == (ChargeState.REFUSED, JobState.DRAFT)


def test_pitfall_62_a_debit_that_another_charge_has_is_not_taken_twice(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    first = unknown_charge()
    Charge.objects.filter(pk=first.pk).update(
        state=ChargeState.MATCHED, cost=96, settled_at=timezone.now()
    )
    upstream.respond(*LEDGER, history_page(debit("-96")))
    second = unknown_charge()
    reconcile_charge(second.pk)
    second.refresh_from_db()
    assert second.state == ChargeState.REFUSED


def test_a_charge_left_in_sending_becomes_unknown_and_is_read_back(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    upstream.respond(*LEDGER, history_page(debit("-96")))
    charge = unknown_charge(seconds=100)
    Charge.objects.filter(pk=charge.pk).update(state=ChargeState.SENDING)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.MATCHED


def test_a_charge_that_is_being_sent_is_left_alone(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    charge = unknown_charge()
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.SENDING, heartbeat_at=timezone.now() - timedelta(seconds=5)
    )
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.SENDING
    assert upstream.requests == []


def test_rule_6_an_upstream_that_is_away_changes_nothing(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", httpx.ConnectError)
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
