"""Refunds that are not quite what was told, and of clips that nobody could see fail."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from proxyapi import ledger
from proxyapi.models import Account, Charge, ChargeState, Job, JobState, LedgerEntry
from tests.factories import TokenFactory, of_another_team
from tests.proxyapi.ledger.conftest import START, Book, Confirmed, line, matches

CREATE = "text_to_video.create"


def refund(amount: int = 30, minute: float = 5, **words: Any) -> dict[str, Any]:
    return line(amount, minute, **{"transaction_type": "Refund", **words})


def test_a_refund_is_of_what_was_booked_where_another_price_was_told(
    account: Account, book: Book, owed: Confirmed
) -> None:
    charge = owed(94)
    book.add(line(-96), refund(96))
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert charge.refunded_at == START + timedelta(minutes=5)
    assert matches() == [(0, "weak"), (1, "likely")]
    told = "Gives back the 96 cr that were booked for it, though 94 cr were told."
    assert LedgerEntry.objects.get(position=1).reason == told
    assert ledger.build_reconciliation(account).refunds_owed == []


def test_a_refund_may_be_of_what_was_told(account: Account, book: Book, owed: Confirmed) -> None:
    owed(94)
    book.add(line(-96), refund(94))
    ledger.mirror_entries(account)
    assert matches() == [(0, "weak"), (1, "certain")]


def test_nobody_takes_anothers_refund_for_what_was_told(
    account: Account, book: Book, owed: Confirmed
) -> None:
    other, equal = owed(94, minute=0), owed(94, minute=20)
    book.add(line(-96, 0), line(-94, 20), refund(94, 25))
    ledger.mirror_entries(account)
    assert LedgerEntry.objects.get(position=2).charge_id == equal.pk
    book.add(refund(96, 26))
    ledger.mirror_entries(account)
    assert LedgerEntry.objects.get(position=3).charge_id == other.pk


@pytest.fixture
def orphan(confirmed: Confirmed) -> Confirmed:
    """A clip that was paid for, and its id was lost with the answer."""

    def make(cost: object = 30, minute: float = 0) -> Charge:
        now, state = timezone.now(), ChargeState.MATCHED
        return confirmed(cost, minute, operation=CREATE, state=state, orphan_at=now)

    return make


def test_pitfall_15_the_refund_of_a_clip_whose_id_was_lost_is_no_top_up(
    account: Account, book: Book, orphan: Confirmed
) -> None:
    charge = orphan(30)
    book.add(line(-30), refund(30), refund(30, 6))
    ledger.mirror_entries(account)
    ledger.mirror_entries(account)
    charge.refresh_from_db()
    assert charge.refunded_at == START + timedelta(minutes=5)
    assert matches() == [(0, "certain"), (1, "likely")]
    kept = ledger.build_reconciliation(account)
    assert (kept.matched, kept.refunded, kept.credited) == (30, 30, 30)


@pytest.mark.parametrize(
    "credit",
    [
        line(30, 5, content_type="top-up", label="Top-up"),
        line(30, 5),
        refund(29),
        refund(30, 5, content_type="character"),
        refund(30, 25 * 60),
    ],
    ids=["a top-up", "says nothing", "another amount", "another kind", "a day later"],
)
def test_a_credit_that_may_be_anything_is_not_given_to_a_lost_clip(
    account: Account, book: Book, orphan: Confirmed, credit: dict[str, Any]
) -> None:
    orphan(30)
    book.add(line(-30), credit)
    ledger.mirror_entries(account)
    assert matches() == [(0, "certain")]


def test_a_refund_before_the_debit_is_no_lost_clips(
    account: Account, book: Book, orphan: Confirmed
) -> None:
    orphan(30)
    book.add(refund(30, 0), line(-30, 0))
    ledger.mirror_entries(account)
    assert matches() == [(1, "certain")]


@pytest.mark.parametrize("state", [JobState.COMPLETED, JobState.FAILED])
def test_a_refund_waits_for_the_end_of_another_clip_that_it_may_be_of(
    account: Account, book: Book, orphan: Confirmed, confirmed: Confirmed, state: JobState
) -> None:
    lost, other = orphan(30), confirmed(30, 60, operation=CREATE)
    now, jobs = timezone.now(), Job.objects.filter(charges=other)
    jobs.update(state=JobState.RUNNING, next_look_at=now)
    book.add(line(-30), line(-30, 60), refund(30, 65))
    ledger.mirror_entries(account)
    assert matches() == [(0, "certain"), (1, "certain")]
    jobs.update(state=state)
    if state == JobState.FAILED:
        Charge.objects.mark_refund_owed(jobs.get(), now)
    ledger.mirror_entries(account)
    expected = other if state == JobState.FAILED else lost
    assert LedgerEntry.objects.get(position=2).charge_id == expected.pk


def test_a_refund_that_may_be_of_a_clip_outside_the_portal_stays_where_it_is(
    account: Account, book: Book, orphan: Confirmed
) -> None:
    orphan(30)
    book.add(line(-30))
    book.add(line(-30, 20), web=True)
    book.add(refund(30, 25))
    ledger.mirror_entries(account)
    assert matches() == [(0, "certain")]


def test_what_was_given_back_to_another_team_is_given_back_to_nobody_else(
    account: Account, book: Book, owed: Confirmed
) -> None:
    """Each team mirrors the same rows."""
    theirs = of_another_team(account)
    TokenFactory(account=theirs)
    first, second = owed(30), owed(30)
    Charge.objects.filter(pk=second.pk).update(account=theirs, vault=theirs.vault)
    book.add(line(-30), line(-30, 0.01), refund())
    for one in (account, theirs, account):
        ledger.mirror_entries(one)
    given = LedgerEntry.objects.get(charge__isnull=False, amount__gt=0)
    assert (given.charge, given.confidence) == (first, "likely")
    book.add(refund(minute=6))
    ledger.mirror_entries(theirs)
    assert LedgerEntry.objects.filter(charge=second, amount__gt=0).count() == 1
