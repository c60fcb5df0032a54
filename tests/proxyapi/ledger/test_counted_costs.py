"""What uses cost, as it is counted while charges settle, is what their charges say."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from proxyapi import ledger
from proxyapi.charges import transitions
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    LedgerConflict,
    LedgerEntry,
    MonthlyPriceCount,
)
from proxyapi.rollups import price_counts
from tests.factories import ChargeFactory, JobFactory, UserFactory
from tests.proxyapi.ledger.conftest import LEDGER_START, ScriptedLedger, ledger_row

pytestmark = pytest.mark.postgresql

Settled = Callable[..., Charge]


@pytest.fixture
def make_settled_charge(account: Account) -> Settled:
    """A charge that was answered, and counted as it was."""

    def make(cost: object = 30, **fields: Any) -> Charge:
        token, type_ = account.tokens.get(), fields.pop("type", "ai-visuals")
        job = JobFactory(
            account=account,
            token=token,
            remote_id=uuid.uuid4().hex,
            draft__settings={"type": type_},
        )
        given = {
            "state": ChargeState.SENDING,
            "sent_at": LEDGER_START,
            "quote": Decimal(30),
            **fields,
        }
        charge: Charge = ChargeFactory(job=job, **given)
        transitions.mark_charged(charge, ChargeState.CONFIRMED, Decimal(str(cost)))
        return charge

    return make


def counts() -> set[tuple[Any, ...]]:
    rows = MonthlyPriceCount.objects.filter(times__gt=0)
    return set(rows.values_list("account", "month", *price_counts.PRICE_COLUMNS, "times"))


def test_equal_prices_are_one_row_and_only_renders_have_a_type(
    account: Account, make_settled_charge: Settled
) -> None:
    make_settled_charge(30)
    make_settled_charge(30)
    make_settled_charge(4, operation="faceless.scripts", quote=None)
    november = date(2026, 11, 1)
    assert counts() == {
        (account.pk, november, "faceless.render", "ai-visuals", Decimal(30), Decimal(30), 2),
        (account.pk, november, "faceless.scripts", "", Decimal(0), Decimal(4), 1),
    }


def test_months_are_of_utc(make_settled_charge: Settled) -> None:
    """pitfall_68: whatever the team's zone."""
    first = datetime(2026, 12, 1, tzinfo=UTC)
    for at in (first - timedelta(seconds=1), first, datetime(2027, 1, 1, tzinfo=UTC)):
        make_settled_charge(30, sent_at=at)
    months = MonthlyPriceCount.objects.order_by("month").values_list("month", flat=True)
    assert list(months) == [date(2026, 11, 1), date(2026, 12, 1), date(2027, 1, 1)]
    assert price_counts.previous_month(date(2027, 1, 1)) == date(2026, 12, 1)
    assert price_counts.previous_month(date(2026, 12, 1)) == date(2026, 11, 1)


def test_an_answer_that_comes_twice_is_counted_once(make_settled_charge: Settled) -> None:
    charge = make_settled_charge(30)
    with pytest.raises(ValueError, match="does not go"):
        transitions.mark_charged(charge, ChargeState.MATCHED, Decimal(30))
    assert [row[-1] for row in counts()] == [1]


def test_a_refund_is_taken_out_and_comes_back_when_its_row_is_gone(
    account: Account, scripted_ledger: ScriptedLedger, make_settled_charge: Settled
) -> None:
    make_settled_charge(30, operation="text_to_video.create", refund_owed_at=LEDGER_START)
    before = counts()
    scripted_ledger.add_row(ledger_row(-30), ledger_row(30, minute=5, transaction_type="Refund"))
    ledger.mirror_entries(account)
    assert counts() == set()
    del scripted_ledger.rows[1:]
    ledger.mirror_entries(account)
    ledger.accept_upstream_version(LedgerConflict.objects.get(), UserFactory().pk)
    assert counts() == before


def test_a_refund_of_the_booked_amount_removes_the_reported_cost(
    account: Account, scripted_ledger: ScriptedLedger, make_settled_charge: Settled
) -> None:
    make_settled_charge(94, operation="text_to_video.create", refund_owed_at=LEDGER_START)
    Charge.objects.update(settled_at=LEDGER_START + timedelta(seconds=3))
    scripted_ledger.add_row(ledger_row(-96), ledger_row(96, minute=5, transaction_type="Refund"))
    ledger.mirror_entries(account)
    assert counts() == set()


def some(settled: Settled, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - a sample, no secret
    for _ in range(25):
        operation = chance.choice(("faceless.render", "faceless.scripts", "b_roll.render"))
        charge = settled(
            chance.choice((0, "0.68", 30, 31)),
            operation=operation,
            type=chance.choice(("ai-visuals", "b-roll", None)),
            quote=chance.choice((None, Decimal(30))),
            sent_at=LEDGER_START + timedelta(days=chance.randint(-70, 70)),
        )
        if chance.random() < 0.2:
            Charge.objects.filter(pk=charge.pk).update(refunded_at=LEDGER_START)
            price_counts.uncount_charge(charge)


@pytest.mark.parametrize("seed", range(3))
def test_counted_one_by_one_is_counted_at_once(
    account: Account, make_settled_charge: Settled, seed: int
) -> None:
    some(make_settled_charge, seed)
    one_by_one = counts()
    price_counts.rebuild_price_counts(account)
    assert counts() == one_by_one


def test_a_debit_that_differs_from_the_cost_says_by_how_much(
    account: Account, scripted_ledger: ScriptedLedger, make_settled_charge: Settled
) -> None:
    make_settled_charge(94, quote=Decimal(94), settled_at=LEDGER_START)
    make_settled_charge(30, settled_at=LEDGER_START)
    Charge.objects.update(settled_at=LEDGER_START + timedelta(seconds=3))
    scripted_ledger.add_row(ledger_row(-96), ledger_row(-30))
    ledger.mirror_entries(account)
    off = LedgerEntry.objects.order_by("position").values_list("cost_difference", flat=True)
    assert list(off) == [Decimal(-2), None]
