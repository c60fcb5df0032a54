"""Refunds that differ from the reported cost, and of clips whose failure no poll read."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.events import EventType
from proxyapi.ledger import refunds
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, LedgerEntry
from tests.factories import TokenFactory, create_account_of_another_team
from tests.proxyapi.ledger.conftest import (
    LEDGER_START,
    MakeConfirmedCharge,
    ScriptedLedger,
    ledger_row,
    matched_positions,
)
from tests.reconciliation import build_reconciliation

CREATE = "text_to_video.create"


def refund(amount: int = 30, minute: float = 5, **words: Any) -> dict[str, Any]:
    return ledger_row(amount, minute, **{"transaction_type": "Refund", **words})


def test_a_refund_is_of_the_booked_amount_where_another_price_was_reported(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    charge = make_owed_clip(94)
    scripted_ledger.add_row(ledger_row(-96), refund(96))
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert charge.refunded_at == LEDGER_START + timedelta(minutes=5)
    assert matched_positions() == [(0, "weak"), (1, "likely")]
    told = "Refunds the 96 cr that were charged for it, although 94 cr were reported."
    assert LedgerEntry.objects.get(position=1).reason == told
    assert build_reconciliation(account).refunds_owed == []


def test_a_refund_may_be_of_the_reported_cost(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    make_owed_clip(94)
    scripted_ledger.add_row(ledger_row(-96), refund(94))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "weak"), (1, "certain")]


def test_no_charge_takes_anothers_refund_for_the_reported_cost(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    other, equal = make_owed_clip(94, minute=0), make_owed_clip(94, minute=20)
    scripted_ledger.add_row(ledger_row(-96, 0), ledger_row(-94, 20), refund(94, 25))
    ledger.mirror_entries(account)
    assert LedgerEntry.objects.get(position=2).charge_id == equal.pk
    scripted_ledger.add_row(refund(96, 26))
    ledger.mirror_entries(account)
    assert LedgerEntry.objects.get(position=3).charge_id == other.pk


def test_each_search_for_a_refund_is_shown_in_open_pages(
    account: Account,
    scripted_ledger: ScriptedLedger,
    make_owed_clip: MakeConfirmedCharge,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whether it came or not: a page says for how long it is owed."""
    published: list[Any] = []
    monkeypatch.setattr(refunds, "publish_event", lambda *event: published.append(event))
    charge = make_owed_clip(30)
    scripted_ledger.add_row(ledger_row(-30))
    ledger.mirror_entries(account)
    event = (account.tenant_id, EventType.JOB, charge.job_id)
    assert set(published) == {event}
    published.clear()
    scripted_ledger.add_row(refund(30))
    ledger.mirror_entries(account)
    assert set(published) == {event}
    published.clear()
    ledger.mirror_entries(account)
    assert published == []


@pytest.fixture
def unidentified_clip(make_confirmed_charge: MakeConfirmedCharge) -> MakeConfirmedCharge:
    """A clip that was paid for, and its id was lost with the answer."""

    def make(cost: object = 30, minute: float = 0) -> Charge:
        now, state = timezone.now(), ChargeState.MATCHED
        return make_confirmed_charge(
            cost, minute, operation=CREATE, state=state, unidentified_at=now
        )

    return make


def test_pitfall_15_the_refund_of_a_clip_whose_id_was_lost_is_no_top_up(
    account: Account, scripted_ledger: ScriptedLedger, unidentified_clip: MakeConfirmedCharge
) -> None:
    charge = unidentified_clip(30)
    scripted_ledger.add_row(ledger_row(-30), refund(30), refund(30, 6))
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert charge.refunded_at == LEDGER_START + timedelta(minutes=5)
    assert matched_positions() == [(0, "certain"), (1, "likely")]
    kept = build_reconciliation(account)
    assert (kept.matched, kept.refunded, kept.credited) == (30, 30, 30)


@pytest.mark.parametrize(
    "credit",
    [
        ledger_row(30, 5, content_type="top-up", label="Top-up"),
        ledger_row(30, 5),
        refund(29),
        refund(30, 5, content_type="character"),
        refund(30, 25 * 60),
    ],
    ids=["a top-up", "says nothing", "another amount", "another kind", "a day later"],
)
def test_a_credit_that_may_be_anything_is_not_given_to_a_lost_clip(
    account: Account,
    scripted_ledger: ScriptedLedger,
    unidentified_clip: MakeConfirmedCharge,
    credit: dict[str, Any],
) -> None:
    unidentified_clip(30)
    scripted_ledger.add_row(ledger_row(-30), credit)
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain")]


def test_a_refund_before_the_debit_is_no_lost_clips(
    account: Account, scripted_ledger: ScriptedLedger, unidentified_clip: MakeConfirmedCharge
) -> None:
    unidentified_clip(30)
    scripted_ledger.add_row(refund(30, 0), ledger_row(-30, 0))
    ledger.mirror_entries(account)
    assert matched_positions() == [(1, "certain")]


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED])
def test_a_refund_waits_for_the_end_of_another_clip_that_it_may_be_of(
    account: Account,
    scripted_ledger: ScriptedLedger,
    unidentified_clip: MakeConfirmedCharge,
    make_confirmed_charge: MakeConfirmedCharge,
    state: JobState,
) -> None:
    lost, other = unidentified_clip(30), make_confirmed_charge(30, 60, operation=CREATE)
    now, jobs = timezone.now(), Job.objects.filter(charges=other)
    jobs.update(state=JobState.RUNNING, next_poll_at=now)
    scripted_ledger.add_row(ledger_row(-30), ledger_row(-30, 60), refund(30, 65))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain"), (1, "certain")]
    jobs.update(state=state)
    if state == JobState.FAILED:
        Charge.objects.mark_refund_owed(jobs.get(), now)
    ledger.mirror_entries(account)
    expected = other if state == JobState.FAILED else lost
    assert LedgerEntry.objects.get(position=2).charge_id == expected.pk


def test_a_refund_that_may_be_of_a_clip_outside_the_portal_stays_where_it_is(
    account: Account, scripted_ledger: ScriptedLedger, unidentified_clip: MakeConfirmedCharge
) -> None:
    unidentified_clip(30)
    scripted_ledger.add_row(ledger_row(-30))
    scripted_ledger.add_row(ledger_row(-30, 20), web=True)
    scripted_ledger.add_row(refund(30, 25))
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain")]


def test_what_was_given_back_to_another_team_is_given_back_to_nobody_else(
    account: Account, scripted_ledger: ScriptedLedger, make_owed_clip: MakeConfirmedCharge
) -> None:
    """Each team mirrors the same rows."""
    theirs = create_account_of_another_team(account)
    TokenFactory(account=theirs)
    first, second = make_owed_clip(30), make_owed_clip(30)
    Charge.objects.filter(pk=second.pk).update(account=theirs, tenant=theirs.tenant)
    scripted_ledger.add_row(ledger_row(-30), ledger_row(-30, 0.01), refund())
    for one in (account, theirs, account):
        ledger.mirror_entries(one)
    given = LedgerEntry.objects.get(charge__isnull=False, amount__gt=0)
    assert (given.charge, given.confidence) == (first, "likely")
    scripted_ledger.add_row(refund(minute=6))
    ledger.mirror_entries(theirs)
    assert LedgerEntry.objects.filter(charge=second, amount__gt=0).count() == 1


@pytest.fixture
def render(make_confirmed_charge: MakeConfirmedCharge) -> MakeConfirmedCharge:
    """A render, for which no refund is documented, that failed unless told otherwise."""

    def make(cost: object = 13, minute: float = 0, state: str = JobState.FAILED) -> Charge:
        charge = make_confirmed_charge(cost, minute, operation="faceless.render")
        ended_at = LEDGER_START + timedelta(minutes=minute + 3)
        Job.objects.filter(charges=charge).update(state=state, finished_at=ended_at)
        return charge

    return make


V1_REFUND = {"label": None, "content_type": "Credits refunded to user"}


@pytest.mark.parametrize(
    ("amount", "state", "words", "found"),
    [
        (13, JobState.FAILED, V1_REFUND, "likely"),
        (13, JobState.COMPLETED, {"content_type": "Reversal"}, "weak"),
        (5, JobState.FAILED, {"label": "Credited back"}, "weak"),
        (14, JobState.FAILED, V1_REFUND, None),
        (13, JobState.FAILED, {"content_type": "Purchased Credit"}, None),
    ],
)
def test_a_credit_that_gives_back_and_fits_is_proposed_whatever_is_documented(
    amount: int, state: str, words: dict[str, Any], found: str | None,
    account: Account, scripted_ledger: ScriptedLedger, render: MakeConfirmedCharge,
    time_machine: Any,
) -> None:  # fmt: skip
    time_machine.move_to(LEDGER_START + timedelta(hours=1))
    charge = render(13, state=state)
    scripted_ledger.add_row(ledger_row(-13), ledger_row(f"+{amount}", 5, **words))
    for _ in range(2):
        ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert matched_positions() == [(0, "certain"), *([(1, found)] if found else [])]
    assert (charge.refunded_at is not None) == (bool(found) and amount == 13)


def test_a_second_refund_or_one_of_two_equal_charges_stays_listed_without_a_charge(
    account: Account, scripted_ledger: ScriptedLedger, render: MakeConfirmedCharge,
    time_machine: Any,
) -> None:  # fmt: skip
    time_machine.move_to(LEDGER_START + timedelta(hours=2))
    render(13)
    scripted_ledger.add_row(ledger_row(-13), *[ledger_row("+13", 5, **V1_REFUND)] * 2)
    ledger.mirror_entries(account)
    assert matched_positions() == [(0, "certain"), (1, "likely")]
    render(20, 30), render(20, 40)
    scripted_ledger.add_row(ledger_row(-20, 30), ledger_row(-20, 40))
    scripted_ledger.add_row(ledger_row("+20", 50, **V1_REFUND))
    ledger.mirror_entries(account)
    assert 5 not in dict(matched_positions())


def test_the_refund_of_a_video_that_was_hidden_here_is_found(
    account: Account, scripted_ledger: ScriptedLedger, render: MakeConfirmedCharge,
    time_machine: Any,
) -> None:  # fmt: skip
    time_machine.move_to(LEDGER_START + timedelta(hours=1))
    charge = render(13)
    Job.objects.filter(charges=charge).update(hidden_at=LEDGER_START)
    scripted_ledger.add_row(ledger_row(-13))
    ledger.mirror_entries(account)
    scripted_ledger.add_row(ledger_row("+13", 5, **V1_REFUND))
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert matched_positions() == [(0, "certain"), (1, "likely")]
    assert charge.refunded_at is not None
