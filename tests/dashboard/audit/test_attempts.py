"""Sign-ins, refused ones and refused attempts are entries, with where they came from."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from dashboard.account.sign_in_history import append_sign_ins_to_audit
from dashboard.audit.queries.filters import AuditFilters
from dashboard.audit.queries.page import load_audit_page
from dashboard.models import AuditEvent, Membership, SignInEvent, SignInOutcome, User
from dashboard.tasks import audit_sign_ins
from tests.factories import MembershipFactory, TeamFactory

pytestmark = pytest.mark.postgresql

Browser = Callable[[Membership], Client]
IP = "203.0.113.24"


def sign_in_event(outcome: SignInOutcome, user: User | None, address: str = "") -> SignInEvent:
    return SignInEvent.objects.create(
        user=user,
        address=address or (user.email if user else "nobody@northlight.example"),
        outcome=outcome,
        client_ip=IP,
        user_agent="Firefox on Windows",
    )


def entries() -> list[AuditEvent]:
    return list(AuditEvent.objects.order_by("position"))


def test_a_sign_in_is_an_entry_with_address_and_browser(mira: Membership) -> None:
    sign_in_event(SignInOutcome.SIGNED_IN, mira.user)
    audit_sign_ins()
    (entry,) = entries()
    assert (entry.action, entry.actor_name, entry.client_ip) == ("sign_in", "Mira Sandvik", IP)
    assert entry.source == "portal"
    assert entry.details["user_agent"] == "Firefox on Windows"


def test_each_sign_in_is_appended_once(mira: Membership) -> None:
    sign_in_event(SignInOutcome.SIGNED_IN, mira.user)
    append_sign_ins_to_audit()
    append_sign_ins_to_audit()
    assert len(entries()) == 1


def test_repeated_wrong_passwords_are_one_entry_with_their_number(mira: Membership) -> None:
    for _ in range(2):
        sign_in_event(SignInOutcome.WRONG_PASSWORD, mira.user)
    append_sign_ins_to_audit()
    (entry,) = entries()
    assert (entry.actor_kind, entry.actor_name) == ("unknown", "mira@northlight.example")
    (group,) = load_audit_page(mira, AuditFilters())["groups"]
    (row,) = group["rows"]
    assert (row["title"], row["thing"]) == ("Sign-in refused", "wrong password, twice")
    assert row["state"] == "late"


def test_an_address_of_nobody_concerns_no_team(mira: Membership) -> None:
    sign_in_event(SignInOutcome.WRONG_PASSWORD, None)
    append_sign_ins_to_audit()
    assert entries() == []
    assert not SignInEvent.objects.filter(is_audited=False).exists()


def test_a_sign_in_is_in_the_log_of_each_team(mira: Membership) -> None:
    other = MembershipFactory.create(user=mira.user, team=TeamFactory.create(name="South"))
    sign_in_event(SignInOutcome.SIGNED_IN, mira.user)
    append_sign_ins_to_audit()
    assert {entry.team_id for entry in entries()} == {mira.team_id, other.team_id}


@pytest.mark.parametrize(
    ("outcome", "action"),
    [
        (SignInOutcome.PASSWORD_CHANGED, "password.change"),
        (SignInOutcome.PASSWORD_RESET, "password.reset"),
        (SignInOutcome.RATE_LIMITED, "sign_in.refuse"),
        (SignInOutcome.DISABLED, "sign_in.refuse"),
    ],
)
def test_every_outcome_has_its_action(
    outcome: SignInOutcome, action: str, mira: Membership
) -> None:
    sign_in_event(outcome, mira.user)
    append_sign_ins_to_audit()
    assert [entry.action for entry in entries()] == [action]


def test_a_refused_press_is_an_entry_once_in_five_minutes(
    vera: Membership, client_of: Browser
) -> None:
    cache.clear()
    browser = client_of(vera)
    for _ in range(2):
        assert browser.post("/alerts/webhooks/", REMOTE_ADDR=IP).status_code == 403
    (entry,) = entries()
    assert (entry.action, entry.actor_name, entry.target) == (
        "access.refuse",
        "Vera Costa",
        "/alerts/webhooks/",
    )
    assert entry.client_ip == IP


def test_opening_a_page_is_no_attempt(vera: Membership, client_of: Browser) -> None:
    assert client_of(vera).get("/top-up/").status_code == 403
    assert entries() == []


def test_a_change_names_the_address_it_came_from(mira: Membership, client_of: Browser) -> None:
    form = {"time_zone": "Europe/Stockholm"}
    client_of(mira).post(reverse("team-time-zone"), form, REMOTE_ADDR=IP)
    assert [(entry.source, entry.client_ip) for entry in entries()] == [("portal", IP)]
