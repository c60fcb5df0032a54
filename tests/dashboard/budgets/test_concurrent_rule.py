"""The second-person rule and charges at once: no charge above it is admitted after it was set."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from decimal import Decimal
from threading import Barrier, Event

import pytest
from django.db import connection, transaction
from django.utils import timezone

from dashboard.budgets.actions import set_second_person_rule
from dashboard.models import AuditAction, AuditEvent
from dashboard.shared.charging import charge_within_budget
from dashboard.shared.second_person import SecondPersonRequired
from proxyapi.charges import admit
from proxyapi.models import Charge
from tests.dashboard.budgets.conftest import make_intent

pytestmark = pytest.mark.django_db(transaction=True)
CHARGES = 6


def test_no_charge_is_admitted_after_the_rule_was_written(mira, thea, priya, video):
    intents = [make_intent(video(priya)) for _ in range(CHARGES)]
    start = Barrier(CHARGES + 1)

    def charge(intent):
        start.wait(120)
        try:
            return charge_within_budget(priya, intent)
        except SecondPersonRequired:
            return None
        finally:
            connection.close()

    def set_rule():
        start.wait(120)
        try:
            set_second_person_rule(by=thea, above=Decimal(100))
        finally:
            connection.close()

    with ThreadPoolExecutor(CHARGES + 1) as pool:
        sent = [pool.submit(charge, intent) for intent in intents]
        pool.submit(set_rule).result()
        admitted = [work.result() for work in sent]
    # The chain of the audit log is the order in which the transactions were committed.
    actions = list(AuditEvent.objects.order_by("position").values_list("action", flat=True))
    after_rule = actions[actions.index(AuditAction.SECOND_PERSON_CHANGE) + 1 :]
    assert AuditAction.CHARGE_CREATE not in after_rule
    assert Charge.objects.count() == sum(charge is not None for charge in admitted)


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one writer at a time")
def test_a_charge_in_its_transaction_keeps_the_rule_from_changing(
    mira, thea, priya, video, monkeypatch
):
    intent, locked, written = make_intent(video(priya)), Event(), list[datetime]()

    def admit_slowly(*args, **kwargs):
        locked.set()
        with pytest.raises(TimeoutError):
            rule.result(1)
        written.append(timezone.now())
        return admit(*args, **kwargs)

    def set_rule():
        locked.wait(120)
        try:
            with transaction.atomic():
                set_second_person_rule(by=thea, above=Decimal(100))
        finally:
            connection.close()

    monkeypatch.setattr("dashboard.shared.charging.admit", admit_slowly)
    with ThreadPoolExecutor(1) as pool:
        rule = pool.submit(set_rule)
        charge_within_budget(priya, intent)
        rule.result(30)
    assert written
    assert Charge.objects.count() == 1
