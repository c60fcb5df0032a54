"""What people do with their own account, and what they take out of the portal, is in the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.account.actions.profile import request_email_change, withdraw_email_change
from dashboard.members.actions.token_requests import request_member_token
from dashboard.models import AuditEvent, Membership

PROFILE = {"name": "Mira Sandvik", "email": "mira@northlight.example"}
STEPS: list[tuple[str, str, str, dict[str, Any]]] = [
    ("name.change", "post", "account-profile", {**PROFILE, "name": "Mira S."}),
    ("notifications.change", "post", "account-notifications", {}),
    ("audit.verify", "post", "audit-checks", {}),
    ("audit.export", "get", "audit-export", {}),
    ("ledger.export", "get", "ledger-export", {}),
    ("sign_out", "post", "account_logout", {}),
]


@pytest.mark.parametrize(("action", "method", "name", "form"), STEPS, ids=lambda value: str(value))
def test_a_row_names_who_did_it(
    action: str,
    method: str,
    name: str,
    form: dict[str, Any],
    mira: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    getattr(client_of(mira), method)(reverse(name), form)
    event = AuditEvent.objects.get(action=action)
    assert (event.team_id, event.actor_id) == (mira.team_id, str(mira.user_id))


def test_a_new_address_and_taking_it_back_leave_a_row_each(mira: Membership) -> None:
    request_email_change(mira.user, "mira.s@northlight.example")
    withdraw_email_change(mira.user)
    withdraw_email_change(mira.user)
    rows = AuditEvent.objects.order_by("position").values_list("action", "before", "after")
    assert list(rows) == [
        ("email.request", {}, {"email": "mira.s@northlight.example"}),
        ("email.withdraw", {"email": "mira.s@northlight.example"}, {}),
    ]


def test_asking_a_member_for_a_token_leaves_a_row(mira: Membership, priya: Membership) -> None:
    request_member_token(by=mira, member=priya)
    assert AuditEvent.objects.get(action="token.request").target == str(priya.user_id)
