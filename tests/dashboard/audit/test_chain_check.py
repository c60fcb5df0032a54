"""The verification that the page shows: by a task, on press, and what it says of a broken chain."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.audit import actions
from dashboard.audit.queries.chain_state import load_chain_state
from dashboard.audit.queries.filters import AuditFilters
from dashboard.audit.queries.page import load_audit_page
from dashboard.models import AuditAction, AuditChainCheck, AuditChainHead, AuditEvent, Membership
from dashboard.shared.audit_log import record_audit_event
from dashboard.tasks import verify_all_audit_chains, verify_audit_chain
from tests.dashboard.audit.conftest import Tamper

pytestmark = pytest.mark.postgresql

Browser = Callable[[Membership], Client]


@pytest.fixture
def checked(three_rows: list[AuditEvent], thea: Membership) -> AuditChainCheck:
    actions.run_chain_check(thea.team_id)
    return AuditChainCheck.objects.get()


def test_an_intact_chain_is_named_with_number_and_hash(
    checked: AuditChainCheck, three_rows: list[AuditEvent], mira: Membership, client_of: Browser
) -> None:
    state = load_chain_state(mira.team_id)
    assert (state.state, state.verified, state.full_hash) == ("good", 3, three_rows[2].row_hash)
    assert state.title.startswith("Chain verified to entry 3 at ")
    assert state.text == "There is no newer entry."
    text = client_of(mira).get("/audit/").content.decode()
    assert f'data-copy="{state.full_hash}"' in text and state.short_hash in text


def test_newer_entries_stand_in_a_group_of_their_own(
    checked: AuditChainCheck, thea: Membership, mira: Membership
) -> None:
    record_audit_event(thea, AuditAction.BUDGET_END, 4)
    groups = load_audit_page(mira, AuditFilters())["groups"]
    assert [group["is_unverified"] for group in groups] == [True, False]
    assert [[row["event"].position for row in group["rows"]] for group in groups] == [
        [4],
        [3, 2, 1],
    ]
    assert load_chain_state(mira.team_id).text.startswith("1 newer entry is checked at ")


def test_a_changed_entry_is_named(
    checked: AuditChainCheck, tamper: Tamper, mira: Membership, client_of: Browser
) -> None:
    tamper("UPDATE dashboard_auditevent SET actor_name = 'Otto' WHERE position = 2")
    actions.run_chain_check(mira.team_id)
    state = load_chain_state(mira.team_id)
    assert (state.state, state.broken, state.verified) == ("failed", 2, 3)
    assert state.title.startswith("Row 2 ")
    assert "Entries before it are intact." in state.text
    rows = [
        row for group in load_audit_page(mira, AuditFilters())["groups"] for row in group["rows"]
    ]
    assert [row["state"] for row in rows] == ["failed", "failed", ""]
    assert "does not match its hash" in client_of(mira).get("/audit/3/").content.decode()
    assert client_of(mira).get("/audit/export/").status_code == 200


def test_a_chain_that_was_built_anew_is_found(
    checked: AuditChainCheck, tamper: Tamper, mira: Membership
) -> None:
    """Whoever can write to the database can hash all rows again, but not what was kept."""
    statement = (
        "UPDATE dashboard_auditevent SET actor_name = 'Otto', previous_hash = %s, row_hash = %s"
        " WHERE position = %s"
    )
    previous = ""
    for event in AuditEvent.objects.order_by("position"):
        event.actor_name, event.previous_hash = "Otto", previous
        previous = event.compute_hash()
        tamper(statement, event.previous_hash, previous, str(event.position))
    AuditChainHead.objects.update(row_hash=previous)
    actions.run_chain_check(mira.team_id)
    assert load_chain_state(mira.team_id).title == (
        "Entry 3 does not match the hash that was kept at the last good check."
    )


def test_a_repaired_chain_is_good_again(
    checked: AuditChainCheck, tamper: Tamper, mira: Membership
) -> None:
    tamper("UPDATE dashboard_auditevent SET actor_name = 'Otto' WHERE position = 2")
    actions.run_chain_check(mira.team_id)
    tamper("UPDATE dashboard_auditevent SET actor_name = 'Thea Lindqvist' WHERE position = 2")
    actions.run_chain_check(mira.team_id)
    assert load_chain_state(mira.team_id).state == "good"


def test_a_press_has_it_checked_once(
    three_rows: list[AuditEvent],
    mira: Membership,
    client_of: Browser,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    enqueued: list[object] = []
    monkeypatch.setattr(
        "dashboard.shared.enqueue.enqueue_after_commit", lambda *args: enqueued.append(args)
    )
    for _ in range(2):
        answer = client_of(mira).post("/audit/checks/", headers={"HX-Request": "true"})
    assert "Checking 4 entries." in answer.content.decode()
    assert len(enqueued) == 1
    actions.run_chain_check(mira.team_id)
    assert load_chain_state(mira.team_id).state == "good"


def test_a_lost_check_can_be_asked_for_again(
    three_rows: list[AuditEvent], mira: Membership
) -> None:
    actions.request_chain_check(by=mira)
    AuditChainCheck.objects.update(requested_at=timezone.now() - timedelta(minutes=16))
    assert not load_chain_state(mira.team_id).is_running


def test_an_old_check_is_amber(checked: AuditChainCheck, mira: Membership) -> None:
    AuditChainCheck.objects.update(checked_at=timezone.now() - timedelta(hours=2))
    state = load_chain_state(mira.team_id)
    assert state.state == "late" and state.title.startswith("The chain was last checked at ")


def test_the_task_checks_every_team(
    three_rows: list[AuditEvent], otto: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify_audit_chain, "delay", verify_audit_chain)
    verify_all_audit_chains()
    assert {check.verified_position for check in AuditChainCheck.objects.all()} == {0, 3}


def test_a_deleted_team_is_skipped(mira: Membership) -> None:
    assert actions.run_chain_check(uuid4()) is None
