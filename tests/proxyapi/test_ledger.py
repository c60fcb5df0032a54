"""Whose debit it is: nobody's twice, no outsider's, and none is missed for want of reading on."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import httpx
import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.charges import reconcile_charge
from proxyapi.charges.reconcile import decide_charge
from proxyapi.ledger.lost_charge_lookup import MAX_LOOKUP_PAGES
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, LedgerEntry, LedgerMirror
from proxyapi.rate_limiter import Priority
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, history_page, make_response

LEDGER = ("GET", "/credits/history")
NOW = timezone.now()


def ago(seconds: float) -> datetime:
    return NOW - timedelta(seconds=seconds)


def debit(amount: str, seconds_ago: float) -> dict[str, str]:
    return {"credit_spend": f"-{amount}", "created_at": ago(seconds_ago).isoformat()}


@pytest.fixture
def upstream(upstream: ScriptedUpstream) -> ScriptedUpstream:
    upstream.respond("GET", "/faceless/7", make_response({"id": 7, "video": {"status": "failed"}}))
    return upstream


@pytest.fixture
def account(db: None) -> Account:
    return AccountFactory(balance=Decimal(1000))


@pytest.fixture
def charge(account: Account) -> Callable[..., Charge]:
    """One of the account, a retry of 96 credits that was lost a minute ago unless told."""
    token = TokenFactory(account=account)

    def make(remote_id: str = "7", **fields: Any) -> Charge:
        job = JobFactory(account=account, token=token, tenant=account.tenant, remote_id=remote_id)
        given = {
            "operation": "faceless.retry",
            "state": ChargeState.UNKNOWN,
            "sent_at": ago(60),
            "lost_at": ago(60),
            "before": {"status": "failed", "script": ""},
            "nonce": uuid.uuid4(),
        }
        return ChargeFactory(job=job, **{**given, **fields})

    return make


def settled(charge: Charge) -> Charge:
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def test_two_workers_do_not_settle_two_charges_by_one_debit(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    """Both have read the ledger before either has written."""
    upstream.respond(*LEDGER, history_page(debit("96", 58)))
    first, second = charge("7", applied_at=ago(50)), charge("8", applied_at=ago(50))
    sights = [ledger.mirror_charge_period(one, Priority.SETTLEMENT) for one in (first, second)]
    for one, sight in zip((first, second), sights, strict=True):
        decide_charge(one, True, {}, sight)
    assert list(Charge.objects.order_by("state").values_list("state", flat=True)) == [
        ChargeState.MATCHED,
        ChargeState.UNKNOWN,
    ]


def test_a_debit_that_two_undecided_retries_may_have_made_settles_neither(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("96", 58)))
    first = charge("7")
    charge("8")
    assert settled(first).state == ChargeState.UNKNOWN


def test_a_debit_of_another_price_is_not_a_charges_own(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("4", 58), debit("500", 57)))
    assert settled(charge()).state == ChargeState.REFUSED


def test_a_render_that_shows_no_start_is_not_started_by_an_outsiders_debit(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    """They contradict each other, so it stays unknown until somebody has looked."""
    upstream.respond("GET", "/faceless/7", make_response({"id": 7, "video": {"status": "draft"}}))
    upstream.respond(*LEDGER, history_page(debit("96", 58)))
    lost = charge(operation="faceless.render", before={"status": "draft"})
    assert settled(lost).state == ChargeState.UNKNOWN
    assert Job.objects.get().state == JobState.DRAFT


def test_a_render_that_took_more_than_was_held_is_matched_after_a_while(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("120", 58), debit("4", 50)))
    assert settled(charge(applied_at=ago(50))).cost == 120


def test_a_debit_of_a_charge_that_was_sent_long_before_it_was_booked_is_not_free(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    """A script is written for up to two minutes before it is booked."""
    earlier = {"sent_at": ago(150), "settled_at": ago(57), "cost": Decimal(96)}
    charge("8", state=ChargeState.CONFIRMED, **earlier)
    upstream.respond(*LEDGER, history_page(debit("96", 58)))
    assert settled(charge()).state == ChargeState.REFUSED


def test_a_charge_that_was_matched_late_holds_its_own_debit_and_no_newer_one(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    earlier = {"sent_at": ago(90), "settled_at": ago(2), "cost": Decimal(96)}
    charge("8", state=ChargeState.MATCHED, booked_at=ago(89), **earlier)
    upstream.respond(*LEDGER, history_page(debit("96", 58), debit("96", 89)))
    assert settled(charge()).state == ChargeState.MATCHED


@pytest.mark.parametrize(
    "history",
    [
        history_page({"credit_spend": "-96", "created_at": "yesterday"}),
        history_page({"credit_spend": "-96", "created_at": "2026-07-04T12:00:00"}),
        history_page("?"),
        make_response([{"credit_spend": "-96", "created_at": ago(58).isoformat()}]),
        make_response({"rows": []}, total=0),
    ],
)
def test_a_ledger_that_cannot_be_read_proves_nothing(
    history: httpx.Response, charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history)
    assert settled(charge()).state == ChargeState.UNKNOWN


def test_a_debit_by_a_clock_that_runs_behind_is_a_trace(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("96", 100)))
    assert settled(charge()).state == ChargeState.UNKNOWN


def paged(rows: list[dict[str, str]]) -> Any:
    """These rows, newest first, as pages in either order."""

    def handle(request: httpx.Request) -> httpx.Response:
        page, size = (int(request.url.params[name]) for name in ("page", "per_page"))
        ordered = rows[::-1] if request.url.params["order"] == "ASC" else rows
        return make_response(ordered[size * (page - 1) : size * page], total=len(rows))

    return handle


def test_a_busy_ledger_is_read_on_until_the_time_of_sending(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, paged([debit("4", 1) for _ in range(70)] + [debit("96", 58)]))
    assert settled(charge()).cost == 96


def test_pitfall_63_rows_that_arrive_while_paging_shift_nothing(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    rows = [debit("4", 1) for _ in range(70)] + [debit("96", 58)]
    answers = paged(rows)

    def handle(request: httpx.Request) -> httpx.Response:
        rows.insert(0, debit("4", 0))
        return cast(httpx.Response, answers(request))

    upstream.respond(*LEDGER, handle)
    assert settled(charge()).cost == 96


def test_a_ledger_too_long_to_be_read_to_the_time_of_sending_proves_nothing_yet(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, paged([debit("4", 1) for _ in range(600)]))
    lost = charge()
    assert settled(lost).state == ChargeState.UNKNOWN
    assert 0 < 600 - 50 * (MAX_LOOKUP_PAGES + 2) <= LedgerMirror.objects.get().low


def test_an_unknown_charge_settles_while_a_huge_history_is_still_being_filled_up(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    old = [debit("4", 86_400) for _ in range(5_000)]
    upstream.respond(*LEDGER, paged([debit("4", 1), debit("96", 58), *old]))
    assert settled(charge()).cost == 96
    assert LedgerMirror.objects.get().low > 0


def test_a_debit_made_outside_the_api_is_no_charges(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    """pitfall_65: the whole ledger shows it, the view source=api does not."""
    whole = history_page(debit("96", 58))
    upstream.respond(
        *LEDGER, lambda asked: history_page() if "source" in asked.url.params else whole
    )
    assert settled(charge(applied_at=ago(50))).state == ChargeState.UNKNOWN


def test_the_debit_that_settled_a_charge_is_its_entry(
    charge: Callable[..., Charge], upstream: ScriptedUpstream
) -> None:
    upstream.respond(*LEDGER, history_page(debit("96", 58)))
    lost = settled(charge())
    entry = LedgerEntry.objects.get(charge=lost)
    assert (entry.amount, entry.confidence, entry.operation) == (-96, "certain", "faceless.retry")
    assert (entry.member_id, entry.job_id) == (lost.member_id, lost.job_id)
