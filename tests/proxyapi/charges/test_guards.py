"""What each step of a charge stands on: the account's lock, a durable claim, its own attempt."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from proxyapi.charges import ChargeIntent, dispatch, dispatch_charge, transitions
from proxyapi.charges.admission import cancel_held_charge
from proxyapi.models import Account, Charge, ChargeState, Job
from proxyapi.refusals import NotEnoughCredits
from tests.admission import admit_charge
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

pytestmark = pytest.mark.postgresql

Held = Callable[..., Charge]
RENDER = ("POST", "/faceless/7/render")
CHARGE_TABLE = f'"{Charge._meta.db_table}"'


@contextmanager
def account_locked_before_charges(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail unless the account is locked inside, before any charge is read or written."""
    queryset: Any = type(Account.objects.all())
    queries_before_lock: list[list[str]] = []
    in_lock_order = queryset.in_lock_order

    def lock(rows: object, pk: uuid.UUID) -> object:
        queries_before_lock.append([query["sql"] for query in captured.captured_queries])
        return in_lock_order(rows, pk)

    monkeypatch.setattr(queryset, "in_lock_order", lock)
    with CaptureQueriesContext(connection) as captured:
        yield
    assert queries_before_lock, "the account was not locked"
    assert not [query for query in queries_before_lock[0] if CHARGE_TABLE in query]


def test_a_charge_is_admitted_under_the_lock_of_its_account(
    job: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    intent = ChargeIntent(job, "faceless.render", uuid.uuid4(), Decimal(106), Decimal(96))
    with account_locked_before_charges(monkeypatch):
        admit_charge(intent)


def test_an_answer_is_applied_under_the_lock_of_its_account(
    make_held_charge: Held, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a sweep that settles the charge meanwhile would settle it once more."""
    charge, apply_reply = make_held_charge(), transitions.apply_reply
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))

    def apply(*args: Any) -> None:
        with account_locked_before_charges(monkeypatch):
            apply_reply(*args)

    monkeypatch.setattr(transitions, "apply_reply", apply)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED


def test_a_claim_is_on_disk_before_anything_is_sent(
    make_held_charge: Held, upstream: ScriptedUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    charge, states = make_held_charge(), []

    @contextmanager
    def durable_commits() -> Iterator[None]:
        yield
        states.append((Charge.objects.get().state, len(upstream.request_bodies(*RENDER))))

    monkeypatch.setattr(dispatch, "durable_commits", durable_commits)
    upstream.respond(*RENDER, charged_response({"id": 7}, 92))
    dispatch_charge(charge.pk)
    assert states == [(ChargeState.SENDING, 0)]


def test_a_worker_of_an_earlier_attempt_has_lost_its_claim(make_held_charge: Held) -> None:
    """It was suspended after its claim; the charge was settled as not charged and sent again."""
    charge = make_held_charge()
    assert dispatch.claim_charge(charge, {})
    assert dispatch.is_claim_current(charge)
    Charge.objects.update(attempts=charge.attempts + 1)
    assert not dispatch.is_claim_current(charge)


def test_a_negative_cost_is_not_believed(
    make_held_charge: Held, upstream: ScriptedUpstream
) -> None:
    """It would give credits to the budgets. The ledger says what the charge took."""
    charge = make_held_charge()
    upstream.respond(*RENDER, charged_response({"id": 7}, -92))
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.cost) == (ChargeState.UNKNOWN, None)


@pytest.mark.parametrize(("hold", "fits"), [(1000, True), (1001, False)])
def test_the_last_credit_can_be_spent_and_none_beyond(job: Job, hold: int, fits: bool) -> None:
    intent = ChargeIntent(job, "faceless.render", uuid.uuid4(), Decimal(hold), Decimal(hold))
    if fits:
        assert admit_charge(intent).state == ChargeState.HELD
    else:
        with pytest.raises(NotEnoughCredits):
            admit_charge(intent)


def test_what_a_worker_has_claimed_is_not_cancelled(make_held_charge: Held) -> None:
    """It may be at the service by now; its answer settles it."""
    charge = make_held_charge()
    assert dispatch.claim_charge(charge, {})
    assert not cancel_held_charge(charge, "All charges were stopped.")
    charge.refresh_from_db()
    assert charge.state == ChargeState.SENDING
