"""What the ledger tells of today's top-ups: by the UTC day, by its own words, inferred."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from proxyapi.models import Account, AutoTopUp, LedgerEntry
from proxyapi.top_up import TopUpSetting, infer_top_up_state, is_stopped_by_failures
from proxyapi.top_up.setting import MAX_TOP_UP_UNITS, UNIT_PRESETS, is_legal_unit_count
from tests.factories import ChargeFactory

NOW = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)  # 02:30 in Berlin, half an hour before it is again


def enter(account: Account, at: datetime, amount: str, label: str) -> LedgerEntry:
    return LedgerEntry.objects.create(
        account=account,
        position=account.entries.count(),
        label=label,
        credit_spend=amount,
        amount=Decimal(amount),
        happened_at=at,
    )


def test_pitfall_68_the_day_of_the_limit_is_the_utc_day(account: Account) -> None:
    """The team's day began two hours earlier, and has twenty-five."""
    enter(account, NOW - timedelta(minutes=31), "2000.00", "Auto top-up")
    enter(account, NOW - timedelta(minutes=29), "2000.00", "Auto top-up")
    found = infer_top_up_state(account, None, NOW)
    assert found.successes_today == 1
    assert found.day_end == datetime(2026, 10, 26, tzinfo=UTC)


@pytest.mark.parametrize(
    ("amount", "label", "counts"),
    [
        ("2000.00", "Auto top-up", 1),
        ("0.5000", "topup", 1),
        ("2000.00", "Refund of a clip", 0),
        ("2000.00", "Monthly plan", 0),
        ("20.00", "Refund: how to top up a phone", 0),
        ("-4.0000", "A script about a top-up", 0),
    ],
)
def test_an_entry_is_a_top_up_by_its_own_words(
    amount: str, label: str, counts: int, account: Account
) -> None:
    enter(account, NOW, amount, label)
    assert infer_top_up_state(account, None, NOW).successes_today == counts


def test_what_gives_back_a_charge_of_ours_is_no_top_up(account: Account) -> None:
    entry = enter(account, NOW, "20.00", "How to top up a phone")
    entry.charge, entry.confidence = ChargeFactory(job__account=account), "certain"
    entry.save()
    assert infer_top_up_state(account, None, NOW).successes_today == 0


def test_pitfall_81_it_rests_a_day_after_the_failure_that_was_seen(account: Account) -> None:
    seen = NOW - timedelta(hours=3)
    row = AutoTopUp(account=account, consecutive_failures=1, failure_seen_at=seen)
    assert infer_top_up_state(account, row, NOW).cooldown_until == seen + timedelta(hours=24)
    assert infer_top_up_state(account, row, NOW + timedelta(hours=21)).cooldown_until is None
    row.consecutive_failures = 0
    assert infer_top_up_state(account, row, NOW).cooldown_until is None


@pytest.mark.parametrize(
    ("fields", "by_the_service"),
    [
        ({"left_enabled": None}, True),
        ({"left_enabled": True, "found_off_at": NOW}, True),
        ({"left_enabled": False, "found_off_at": NOW}, True),  # on again there, then off
        ({"left_enabled": False}, False),
        ({"enabled": True}, False),
        ({"consecutive_failures": 2, "found_off_at": NOW}, False),
    ],
)
def test_pitfall_76_the_count_alone_does_not_say_who_switched_it_off(
    fields: dict[str, Any], by_the_service: bool
) -> None:
    row = AutoTopUp(**{"enabled": False, "consecutive_failures": 3, **fields})
    assert is_stopped_by_failures(row) is by_the_service


def test_pitfall_72_units_are_presets_or_any_number_above() -> None:
    legal = [
        units
        for units in (*range(-1, 103), MAX_TOP_UP_UNITS, MAX_TOP_UP_UNITS + 1)
        if is_legal_unit_count(units)
    ]
    assert legal == [*UNIT_PRESETS, 101, 102, MAX_TOP_UP_UNITS]


def test_pitfall_73_units_are_a_hundred_credits_each_and_a_pack_what_somebody_said() -> None:
    assert TopUpSetting(True, "dynamic-credits", None, 150).credits_per_top_up({}) == 15_000
    pack = TopUpSetting(True, "extra-credits", 301, 150)
    assert (pack.credits_per_top_up({301: 500}), pack.credits_per_top_up({})) == (500, None)


def test_values_of_a_wrong_type_are_nothing() -> None:
    odd = {"enabled": "yes", "type": 7, "plan_id": True, "units": -3}
    assert TopUpSetting.from_mapping(odd) == TopUpSetting(False, "", None, None)
