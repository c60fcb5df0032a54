"""Free credits, whenever a balance is read: too low until the next reading, but never too high."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import dispatch_charge, transitions
from proxyapi.models import Account, Charge, ChargeState, Job
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response, error_response

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")


def free() -> Decimal:
    return Account.objects.get().available_balance()


@pytest.fixture
def read_meanwhile(upstream: ScriptedUpstream) -> Callable[..., list[datetime]]:
    """A balance is requested while a render is answered, and reported before it was booked."""

    def answering(balance: int | None, answered: httpx.Response) -> list[datetime]:
        asked: list[datetime] = []

        def handle(request: httpx.Request) -> httpx.Response:
            asked.append(timezone.now())
            if balance is not None:
                Account.objects.get().update_balance(Decimal(balance), asked[0])
            return answered

        upstream.respond(*RENDER, handle)
        return asked

    return answering


def test_a_balance_from_between_the_sending_and_the_booking_does_not_hide_the_cost(
    make_held_charge: Held, read_meanwhile: Callable[..., list[datetime]]
) -> None:
    read_meanwhile(1000, charged_response({"id": 7}, 92, remaining=908))
    dispatch_charge(make_held_charge().pk)
    assert free() == 908


def test_nor_when_it_is_reported_after_the_charge_was_settled(
    make_held_charge: Held, job: Job, read_meanwhile: Callable[..., list[datetime]]
) -> None:
    asked = read_meanwhile(None, charged_response({"id": 7}, 92, remaining=908))
    dispatch_charge(make_held_charge().pk)
    assert free() == 908
    job.account.update_balance(Decimal(1000), asked[0])
    assert free() == 908
    job.account.update_balance(Decimal(900), timezone.now())
    assert free() == 900


@pytest.mark.parametrize(("read_after", "known"), [(-5, False), (5, False), (20, True)])
def test_what_the_ledger_settles_is_in_a_balance_that_was_asked_for_after_its_booking(
    read_after: int, known: bool, make_held_charge: Held, job: Job
) -> None:
    charge, booked = make_held_charge(), timezone.now() - timedelta(seconds=30)
    Charge.objects.filter(pk=charge.pk).update(
        state=ChargeState.UNKNOWN, sent_at=booked - timedelta(seconds=9)
    )
    charge.refresh_from_db()
    Account.objects.update(balance_as_of=booked + timedelta(seconds=read_after))
    assert free() == 1000 - charge.hold
    transitions.mark_charged(charge, ChargeState.MATCHED, Decimal(92), booked)
    assert free() == (1000 if known else 908)


def test_what_a_402_says_is_as_of_its_sending(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """Another charge was booked after it was counted, and before it was answered."""
    charge = make_held_charge()

    def handle(request: httpx.Request) -> httpx.Response:
        now = timezone.now()
        other = ChargeFactory(job__account=charge.account, state=ChargeState.SENDING, sent_at=now)
        transitions.mark_charged(other, ChargeState.CONFIRMED, Decimal(30))
        return error_response(402, "INSUFFICIENT-CREDITS", required=96, available=95)

    upstream.respond(*RENDER, handle)
    dispatch_charge(charge.pk)
    assert free() == 65


def test_many_holds_of_a_fraction_leave_what_they_leave(job: Job) -> None:
    """A database that adds floats up refused the last one, by a ten-thousandth of a billionth."""
    Account.objects.update(balance=Decimal("74.8"))
    for _ in range(43):
        own = JobFactory(account=job.account, token=job.token, tenant=job.tenant)
        ChargeFactory(job=own, hold=Decimal("1.7"))
    assert free() == Decimal("1.7")
