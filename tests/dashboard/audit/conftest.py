"""What the tests of the audit log do to it behind the model's back."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection

from dashboard.models import AuditAction, AuditEvent, Membership
from dashboard.shared.audit_log import record_audit_event

Tamper = Callable[..., None]


@pytest.fixture
def three_rows(thea: Membership) -> list[AuditEvent]:
    for number in range(3):
        record_audit_event(
            thea, AuditAction.BUDGET_CHANGE, number, before={"hard": "10"}, after={"hard": number}
        )
    return list(AuditEvent.objects.order_by("position"))


@pytest.fixture
def tamper() -> Tamper:
    """Run SQL as somebody would who may change the schema."""

    def run(statement: str, *values: str) -> None:
        toggle = "ALTER TABLE dashboard_auditevent {} TRIGGER audit_append_only"
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute(toggle.format("DISABLE"))
            cursor.execute(statement, values or None)
            if connection.vendor == "postgresql":
                cursor.execute(toggle.format("ENABLE"))

    return run
