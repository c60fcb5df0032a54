"""Which debit settles a lost charge, where several may: time, price and the API view decide."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import reconcile_charge, remove_match
from proxyapi.models import (
    Charge,
    ChargeState,
    LedgerEntry,
    MatchConfidence,
)
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.charges.test_reconcile import LEDGER, Held, debit, unknown_charge
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    history_page,
    make_response,
)

__all__ = ["unknown_charge"]


@pytest.fixture
def retried_charge(unknown_charge: Held, upstream: ScriptedUpstream) -> Callable[..., Charge]:
    """A retry without an answer, sent 40 s ago and read back beside debits of its price."""

    def settled(*seconds_ago: int) -> Charge:
        upstream.respond("GET", "/faceless/7", make_response(video_response("failed")))
        upstream.respond(*LEDGER, history_page(*[debit("-96", at) for at in seconds_ago]))
        charge = unknown_charge("faceless.retry", before="failed")
        reconcile_charge(charge.pk)
        charge.refresh_from_db()
        return charge

    return settled


def test_a_debit_from_before_the_sending_neither_proves_nor_clears_a_retry(
    retried_charge: Callable[..., Charge],
) -> None:
    """It belongs to something else, unless clocks differ: neither charged nor not charged."""
    charge = retried_charge(43)
    assert (charge.state, charge.cost) == (ChargeState.UNKNOWN, None)
    assert charge.account.held_credits() == charge.hold


def test_where_the_services_clock_is_known_to_be_behind_it_is_taken_and_not_for_certain(
    make_held_charge: Held, retried_charge: Callable[..., Charge]
) -> None:
    answered, sent = make_held_charge("faceless.scripts"), timezone.now() - timedelta(hours=2)
    Charge.objects.filter(pk=answered.pk).update(
        state=ChargeState.CONFIRMED,
        cost=4,
        sent_at=sent,
        settled_at=sent,
        booked_at=sent - timedelta(seconds=3),
    )
    charge = retried_charge(43)
    entry = LedgerEntry.objects.get(charge=charge)
    assert (charge.state, entry.confidence) == (ChargeState.MATCHED, MatchConfidence.LIKELY)
    assert "recorded before it by our clock" in entry.reason


def test_a_match_that_a_person_took_back_is_not_made_again(
    retried_charge: Callable[..., Charge],
) -> None:
    charge = retried_charge(38)
    assert charge.state == ChargeState.MATCHED
    debit = remove_match(charge, charge.member_id)
    for _ in range(2):
        reconcile_charge(charge.pk)
    charge.refresh_from_db()
    debit.refresh_from_db()
    assert (charge.state, charge.cost, debit.charge) == (ChargeState.UNKNOWN, None, None)
    assert charge.account.held_credits() == charge.hold


def test_of_two_equal_debits_the_one_after_the_sending_is_its_own(
    retried_charge: Callable[..., Charge],
) -> None:
    charge = retried_charge(43, 38)
    assert charge.state == ChargeState.MATCHED
    taken, outside = LedgerEntry.objects.order_by("-happened_at")
    assert (taken.charge, outside.charge) == (charge, None)


def test_two_equal_debits_of_neighbouring_seconds_are_shared_out_so_that_both_charges_have_one(
    make_held_charge: Held, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    """The first was booked just before a second began and answered just after; then the other was
    sent. The later debit fits both of them, the earlier one only the first."""
    second = timezone.now().replace(microsecond=0) - timedelta(seconds=40)
    tenth = timedelta(seconds=0.1)
    times = {"sent_at": second - tenth, "settled_at": second + tenth}
    first = make_held_charge("faceless.scripts")
    Charge.objects.filter(pk=first.pk).update(state=ChargeState.CONFIRMED, cost=96, **times)
    retry = unknown_charge("faceless.retry", before="failed")
    Charge.objects.filter(pk=retry.pk).update(sent_at=second + 2 * tenth)
    rows = [
        debit("-96") | {"created_at": at.isoformat()}
        for at in (second, second - timedelta(seconds=1))
    ]
    upstream.respond("GET", "/faceless/7", make_response(video_response("failed")))
    upstream.respond(*LEDGER, history_page(*rows))
    reconcile_charge(retry.pk)
    retry.refresh_from_db()
    assert retry.state == ChargeState.MATCHED
    earlier, later = LedgerEntry.objects.order_by("happened_at")
    assert (earlier.charge, later.charge) == (first, retry)


def test_a_debit_that_what_is_sent_just_now_may_have_made_waits_for_that_ones_answer(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    """It is nearer to the price than its own, and its answer is seconds away."""
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    upstream.respond(
        *LEDGER, history_page(debit("-100", seconds_ago=38), debit("-96", seconds_ago=15))
    )
    charge = unknown_charge()
    video_of_another = JobFactory(account=charge.account, token=charge.token)
    sent_at = timezone.now() - timedelta(seconds=20)
    other = ChargeFactory(job=video_of_another, state=ChargeState.SENDING, sent_at=sent_at)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    answered = {"state": ChargeState.CONFIRMED, "cost": 96, "settled_at": timezone.now()}
    Charge.objects.filter(pk=other.pk).update(**answered)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 100)
    assert LedgerEntry.objects.get(amount=-96).charge == other


@pytest.mark.parametrize(
    ("operation", "status", "state"),
    [
        ("faceless.retry", "failed", ChargeState.UNKNOWN),  # a person decides
        ("faceless.render", "rendering", ChargeState.MATCHED),
    ],
)
def test_amount_and_time_are_no_proof_where_somebody_else_spends_on_the_account(
    operation: str, status: str, state: ChargeState, unknown_charge: Held,
    upstream: ScriptedUpstream,
) -> None:  # fmt: skip
    """Another installation may have made the debit of the same second."""
    upstream.respond("GET", "/faceless/7", make_response(video_response(status)))
    upstream.respond(*LEDGER, history_page(debit("-15", 86_400), debit("-96", 39)))
    charge = unknown_charge(operation, before="failed" if status == "failed" else "draft")
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == state
    if state == ChargeState.MATCHED:
        entry = LedgerEntry.objects.get(charge=charge)
        assert entry.confidence == MatchConfidence.LIKELY
        assert "used outside the portal" in entry.reason


def lagging(shown: int, *rows: dict[str, str]) -> Callable[[httpx.Request], httpx.Response]:
    """A ledger whose view of API spend shows only the first of its rows yet."""
    return lambda request: history_page(
        *rows[: shown if request.url.params.get("source") else None]
    )


@pytest.mark.parametrize("operation", ["faceless.render", "faceless.retry"])
def test_a_debit_that_the_apis_view_does_not_show_yet_is_a_trace(
    operation: str, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    before = "failed" if operation == "faceless.retry" else "draft"
    upstream.respond("GET", "/faceless/7", make_response(video_response(before)))
    rows = debit("+4", seconds_ago=3000), debit("-96", seconds_ago=20)
    upstream.respond(*LEDGER, lagging(1, *rows))
    charge = unknown_charge(operation, before=before)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    upstream.respond("GET", "/faceless/7", make_response(video_response("failed")))
    upstream.respond(*LEDGER, history_page(*rows))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 96)


def test_a_debit_that_the_view_shows_late_settles_though_no_other_row_comes(
    unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    upstream.respond("GET", "/faceless/7", make_response(video_response("rendering")))
    rows = debit("-4", seconds_ago=3000), debit("-96", seconds_ago=31)
    upstream.respond(*LEDGER, lagging(1, *rows))
    charge = unknown_charge()
    Charge.objects.filter(pk=charge.pk).update(lost_at=timezone.now() - timedelta(seconds=30))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN
    assert not LedgerEntry.objects.get(amount=-96).via_api
    upstream.respond(*LEDGER, history_page(*rows))
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.MATCHED, 96)


@pytest.mark.parametrize(("amount", "seconds_ago"), [("-96", 31), ("-4", 1)])
def test_neither_what_it_did_not_show_for_long_nor_another_amount_is_waited_for(
    amount: str, seconds_ago: int, unknown_charge: Held, upstream: ScriptedUpstream
) -> None:
    rows = debit("-4", seconds_ago=3000), debit(amount, seconds_ago)
    upstream.respond(*LEDGER, lagging(1, *rows))
    charge = unknown_charge()
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED
