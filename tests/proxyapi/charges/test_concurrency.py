"""Really at the same time: threads with connections of their own, on the database of the run."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from functools import partial
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.utils import timezone

from proxyapi.charges import (
    ChargeIntent,
    cancel_held_charges,
    dispatch_charge,
    transitions,
)
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, Tenant
from proxyapi.refusals import Refusal, StaleData
from tests.admission import admit_charge
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.charges.conftest import SETTINGS
from tests.proxyapi.scripted_upstream import ScriptedUpstream, charged_response

pytestmark = pytest.mark.django_db(transaction=True)
RENDER = ("POST", "/faceless/7/render")
CROWD = 6


def together(deeds: Iterable[Callable[[], object]]) -> None:
    """All at once; each thread gives its connection back."""
    listed = list(deeds)
    start = Barrier(len(listed))

    def run(deed: Callable[[], object]) -> None:
        start.wait(120)
        try:
            with suppress(Refusal):
                deed()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(listed)) as pool:
        for done in [pool.submit(run, deed) for deed in listed]:
            done.result()


def intent(job: Job, nonce: uuid.UUID, hold: int = 106) -> ChargeIntent:
    return ChargeIntent(job, "faceless.render", nonce, Decimal(hold), Decimal(96))


def test_pitfall_40_presses_at_once_are_one_charge(job: Job) -> None:
    nonce = uuid.uuid4()
    together(lambda: admit_charge(intent(job, nonce)) for _ in range(CROWD))
    assert Charge.objects.count() == 1


def test_tabs_at_once_are_one_charge(job: Job) -> None:
    together(lambda: admit_charge(intent(job, uuid.uuid4())) for _ in range(CROWD))
    assert Charge.objects.count() == 1


@pytest.mark.skipif("connection.vendor != 'postgresql'")
def test_a_press_that_waits_for_an_edit_is_refused_after_it(job: Job) -> None:
    """A join of the job and its draft would be read as they were before the waiting."""
    refused: list[Exception] = []

    def press() -> None:
        try:
            admit_charge(intent(job, uuid.uuid4()))
        except StaleData as refusal:
            refused.append(refusal)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=job.pk)
            Draft.objects.update(edited_at=timezone.now())
            Job.objects.update(title="Snow")
            pressed = pool.submit(press)
            while not has_waiting_locks() and not pressed.done():
                pass
        pressed.result()
    assert refused
    assert not Charge.objects.exists()


def has_waiting_locks() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT 1 FROM pg_locks WHERE NOT granted)")
        return bool(cursor.fetchone()[0])


def test_pitfall_54_members_at_once_do_not_pass_on_the_same_credits(job: Job) -> None:
    others = [
        JobFactory(account=job.account, token=job.token, tenant=job.tenant, remote_id=str(number))
        for number in range(100, 100 + CROWD)
    ]
    together(lambda one=one: admit_charge(intent(one, uuid.uuid4(), 400)) for one in others)  # type: ignore[misc]
    assert Charge.objects.count() == 2
    assert Account.objects.get().available_balance() == 200


def test_teams_at_once_do_not_pass_on_the_same_credits(job: Job, other_teams_job: Job) -> None:
    """Each has an account row of its own, of the same account at the service."""
    jobs = [
        JobFactory(account=one.account, token=one.token, tenant=one.tenant, remote_id=str(number))
        for number in range(100, 100 + CROWD // 2)
        for one in (job, other_teams_job)
    ]
    together(lambda one=one: admit_charge(intent(one, uuid.uuid4(), 600)) for one in jobs)  # type: ignore[misc]
    assert Charge.objects.count() == 1
    assert [row.available_balance() for row in Account.objects.all()] == [400, 400]


def test_teams_that_spend_and_read_balances_at_once_do_not_deadlock(
    job: Job, other_teams_job: Job
) -> None:
    def spend(one: Job) -> None:
        for _ in range(10):
            charge = ChargeFactory(job=one, state=ChargeState.SENDING, sent_at=timezone.now())
            transitions.mark_charged(charge, ChargeState.CONFIRMED, Decimal(1))

    def read(one: Job) -> None:
        requested_at = timezone.now() - timedelta(minutes=5)
        for _ in range(10):
            Account.objects.get(pk=one.account_id).update_balance(Decimal(1000), requested_at)

    jobs = (job, other_teams_job)
    together([partial(deed, one) for deed in (spend, read) for one in jobs])
    assert [row.balance for row in Account.objects.all()] == [980, 980]


def test_workers_at_once_send_once(job: Job, upstream: ScriptedUpstream) -> None:
    upstream.respond(*RENDER, charged_response({"id": 7, **SETTINGS}, 92))
    charge = admit_charge(intent(job, uuid.uuid4()))
    together(lambda: dispatch_charge(charge.pk) for _ in range(CROWD))
    charge.refresh_from_db()
    assert len(upstream.request_bodies(*RENDER)) == 1
    assert charge.state == ChargeState.CONFIRMED


def test_presses_and_a_stop_at_once_leave_nothing_that_waits(job: Job) -> None:
    """Each press is refused by the stop or released by it."""
    jobs = [
        JobFactory(account=job.account, token=job.token, tenant=job.tenant, remote_id=str(number))
        for number in range(100, 100 + CROWD)
    ]

    def stop() -> None:
        stopped = {"charges_stopped_at": timezone.now(), "charge_stop_reason": "x"}
        Tenant.objects.filter(pk=job.tenant_id).update(**stopped)
        cancel_held_charges(job.tenant_id, "Charges were stopped.")

    together([*(partial(admit_charge, intent(one, uuid.uuid4(), 10)) for one in jobs), stop])
    assert not Charge.objects.exclude(state=ChargeState.REFUSED).exists()
    assert Account.objects.get().held_credits() == 0
