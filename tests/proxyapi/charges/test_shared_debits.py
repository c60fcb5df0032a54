"""Two teams with tokens of one account at the service: each mirrors its ledger, and a debit in it
settles one charge of one of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from django.db.models import Count
from django.utils import timezone

from proxyapi import calls, ledger
from proxyapi.charges import reconcile_charge, settle_with_entry
from proxyapi.models import Account, Charge, ChargeState, Job, LedgerEntry
from proxyapi.rate_limiter import Permit
from proxyapi.refusals import StaleData
from tests.examples import examples
from tests.factories import ChargeFactory, JobFactory, UserFactory
from tests.proxyapi.charges.conftest import video_response
from tests.proxyapi.scripted_upstream import ScriptedUpstream, history_page, make_response

LEDGER = ("GET", "/credits/history")
LedgerOf = Callable[..., None]


def lost(job: Job, **fields: Any) -> Charge:
    """A retry whose answer got lost: a debit alone proves it."""
    sent_at = timezone.now() - timedelta(seconds=40)
    given = {"operation": "faceless.retry", "before": {"status": "failed", "script": ""}}
    return ChargeFactory(job=job, state=ChargeState.UNKNOWN, sent_at=sent_at, **{**given, **fields})


def confirmed(job: Job, cost: int = 96) -> Charge:
    now = timezone.now()
    return ChargeFactory(
        job=job, state=ChargeState.CONFIRMED, cost=cost, sent_at=now - timedelta(seconds=38),
        settled_at=now - timedelta(seconds=35),
    )  # fmt: skip


def debit(amount: str = "-96", seconds_ago: int = 36) -> dict[str, str]:
    booked = timezone.now() - timedelta(seconds=seconds_ago)
    return {"credit_spend": amount, "created_at": booked.isoformat(), "transaction_type": "Debit"}


def read_back(*charges: Charge) -> list[str]:
    """Their states, each read back twice: what one of them took may decide on the other."""
    for charge in (*charges, *charges):
        reconcile_charge(charge.pk)
        charge.refresh_from_db()
    return [charge.state for charge in charges]


@pytest.fixture
def scripted_ledger(upstream: ScriptedUpstream) -> Callable[..., None]:
    def shown(*rows: dict[str, str]) -> None:
        for number in range(7, 16):
            upstream.respond(
                "GET", f"/faceless/{number}", make_response(video_response("failed", id=number))
            )
        upstream.respond(*LEDGER, history_page(*rows))

    return shown


def test_one_debit_settles_neither_of_two_lost_charges_that_may_both_have_made_it(
    job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    scripted_ledger(debit())
    states = read_back(lost(job), lost(other_teams_job))
    assert states == [ChargeState.UNKNOWN, ChargeState.UNKNOWN]


def test_two_debits_settle_both(job: Job, other_teams_job: Job, scripted_ledger: LedgerOf) -> None:
    scripted_ledger(debit(), debit(seconds_ago=35))
    charges = lost(job), lost(other_teams_job)
    assert read_back(*charges) == [ChargeState.MATCHED, ChargeState.MATCHED]
    places = LedgerEntry.objects.filter(charge__in=charges).values_list("position", flat=True)
    assert sorted(places) == [0, 1]


def test_a_debit_that_settled_one_teams_charge_is_none_of_another_teams(
    job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    scripted_ledger(debit())
    assert read_back(lost(job)) == [ChargeState.MATCHED]
    assert read_back(lost(other_teams_job)) == [ChargeState.REFUSED]


def test_rows_of_one_second_have_another_order_in_each_mirror(
    job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    ours, other = debit(), debit("-4")
    other["created_at"] = ours["created_at"]
    scripted_ledger(ours, other)
    assert read_back(lost(job)) == [ChargeState.MATCHED]
    scripted_ledger(other, ours)
    assert read_back(lost(other_teams_job)) == [ChargeState.REFUSED]
    charged = LedgerEntry.objects.filter(charge__isnull=False)
    assert [row.amount for row in charged] == [-96]


@pytest.mark.parametrize("is_mirrored", [True, False])
def test_the_debit_of_a_charge_that_was_answered_settles_no_other_teams(
    is_mirrored: bool, job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    """Not either while the mirror of its own team does not show it yet."""
    scripted_ledger(debit())
    answered = confirmed(job)
    if is_mirrored:
        read_back(lost(job, hold=4, quote=4))  # reads the ledger; this one was never charged
        assert LedgerEntry.objects.get(charge=answered).position == 0
    end = ChargeState.REFUSED if is_mirrored else ChargeState.UNKNOWN
    charge = lost(other_teams_job)
    assert read_back(charge) == [end]
    assert not LedgerEntry.objects.filter(charge=charge).exists()


def test_what_is_kept_for_another_team_is_let_go_once_its_mirror_shows_it(
    job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    scripted_ledger(debit(), debit(seconds_ago=35))
    answered, charge = confirmed(job), lost(other_teams_job)
    assert read_back(charge) == [ChargeState.MATCHED]
    read_back(lost(job, hold=4, quote=4))
    places = LedgerEntry.objects.filter(charge__in=(answered, charge)).values_list(
        "position", flat=True
    )
    assert sorted(places) == [0, 1]


def test_a_person_cannot_claim_a_debit_that_another_teams_charge_has(
    job: Job, other_teams_job: Job, scripted_ledger: LedgerOf
) -> None:
    scripted_ledger(debit())
    charge = lost(other_teams_job)
    assert read_back(lost(job), charge)[1] == ChargeState.UNKNOWN
    first = Charge.objects.get(job=job)
    settle_with_entry(first, LedgerEntry.objects.get(account=job.account), job.member_id)
    entry = LedgerEntry.objects.get(account=other_teams_job.account)
    with pytest.raises(StaleData) as refusal:
        settle_with_entry(charge, entry, UserFactory().pk)
    assert "another team" in refusal.value.sentence
    charge.refresh_from_db()
    assert charge.state == ChargeState.UNKNOWN


@pytest.mark.parametrize("seed", range(examples(4, 60)))
def test_whatever_is_read_in_whatever_order_no_debit_is_matched_twice(
    seed: int,
    job: Job,
    other_teams_job: Job,
    scripted_ledger: LedgerOf,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Charges of both teams, fewer debits than charges, mirrors of which one is ahead."""
    monkeypatch.setattr(calls, "acquire_permit", lambda *_: Permit(True, 0))
    chance = Random(seed)  # noqa: S311 - not for cryptography
    jobs = [
        JobFactory(account=one.account, token=one.token, remote_id=str(number))
        for number, one in enumerate((job, other_teams_job) * 3, start=10)
    ]
    charges = [chance.choice((lost, confirmed))(one) for one in jobs]
    rows = [debit(seconds_ago=39 - number) for number in range(chance.randrange(1, 6))]
    for step in range(12):
        scripted_ledger(*rows[: 1 + step // 2])
        if chance.random() < 0.5:
            ledger.mirror_entries(Account.objects.get(pk=chance.choice(jobs).account_id))
        else:
            reconcile_charge(chance.choice(charges).pk)
    matched = LedgerEntry.objects.filter(charge__isnull=False, amount__lt=0)
    per_place = matched.values("position").annotate(n=Count("pk"))
    assert [row for row in per_place if row["n"] > 1] == []
    assert matched.count() <= len(rows)
