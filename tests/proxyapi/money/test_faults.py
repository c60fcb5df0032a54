"""Whatever the answer suffers, on the real wire: one charge at most, and both books agree."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from itertools import cycle
from typing import Any

import httpx
import pytest
from django.utils import timezone

from proxyapi.charges import ChargeIntent, dispatch_charge, reconcile_charge
from proxyapi.models import Charge, ChargeState, Job, JobState
from tests.admission import admit_charge
from tests.proxyapi.money.operations import SCRIPT

Books = Callable[[], dict[str, Any]]
OPERATIONS = {"faceless.render": "render", "faceless.scripts": "scripts"}
AFTER = ("reset", "close", "half_body", "status", "html", "malformed_json", "drop_meta")
BEFORE = ("reset", "close", "status", "html")


def sent(job: Job, operation: str) -> Charge:
    intent = ChargeIntent(
        job=job,
        operation=operation,
        nonce=uuid.uuid4(),
        hold=Decimal(60),
        quote=Decimal(4) if operation == "faceless.scripts" else job.draft.estimate,
        body=SCRIPT if operation == "faceless.scripts" else {},
    )
    charge = admit_charge(intent)
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def settled(charge: Charge) -> Charge:
    """The charge read back, as it is half a minute after it was sent and lost."""
    then = timezone.now() - timedelta(seconds=31)
    Charge.objects.filter(pk=charge.pk).update(sent_at=then, lost_at=then)
    reconcile_charge(charge.pk)
    charge.refresh_from_db()
    return charge


def fault(control: httpx.Client, operation: str, when: str, action: str) -> None:
    rule = {"match": {"path": f"*/{OPERATIONS[operation]}"}, "when": when, "action": action}
    assert control.post("faults", json={**rule, "times": 1}).is_success


@pytest.mark.parametrize(
    ("action", "operation"),
    [*zip(AFTER, cycle(OPERATIONS)), ("drop_meta", "faceless.scripts")],
)
def test_what_was_charged_and_then_lost_is_found_and_counted_once(
    operation: str, action: str, job: Job, control: httpx.Client, money: Books
) -> None:
    fault(control, operation, "after", action)
    charge = sent(job, operation)
    if (action, operation) == (
        "drop_meta",
        "faceless.scripts",
    ):  # priced exactly
        assert charge.state == ChargeState.CONFIRMED
    else:
        assert charge.state == ChargeState.UNKNOWN
        assert settled(charge).state == ChargeState.MATCHED
    books = money()
    assert Decimal(str(books["ledger_sum"])) == -(charge.cost or 0)
    assert books["double_charges"] == []


@pytest.mark.parametrize(("action", "operation"), [*zip(BEFORE, cycle(OPERATIONS))])
def test_what_never_started_is_free_again_and_charged_nowhere(
    operation: str, action: str, job: Job, control: httpx.Client, money: Books
) -> None:
    fault(control, operation, "before", action)
    charge = sent(job, operation)
    settled(charge)
    assert charge.state == ChargeState.REFUSED
    assert money()["ledger_sum"] == 0
    assert job.account.held_credits() == 0


def test_a_429_before_a_render_is_read_back_and_charged_nothing(
    job: Job, control: httpx.Client, money: Books
) -> None:
    fault(control, "faceless.render", "before", "rate_limited")
    charge = sent(job, "faceless.render")
    assert charge.is_checked_before_retry
    assert money()["ledger_sum"] == 0


def test_a_render_without_trouble_agrees_to_the_credit(job: Job, money: Books) -> None:
    charge = sent(job, "faceless.render")
    job.refresh_from_db()
    assert charge.state == ChargeState.CONFIRMED
    assert job.state == JobState.RUNNING
    assert Decimal(str(money()["balance"])) == job.account.__class__.objects.get().balance
