"""The chain of audit rows: it is whole as written, and whatever is done to it is found."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, connection, models, transaction

from dashboard.audit.actions import run_chain_check
from dashboard.models import AuditAction, AuditAppendOnlyError, AuditEvent, Membership, Team
from dashboard.shared.audit_log import (
    append_audit_rows_last,
    person_actor,
    record_audit_event,
    system_actor,
)
from tests.dashboard.audit.conftest import Tamper
from tests.factories import TeamFactory
from tests.settings import ON_POSTGRES

pytestmark = pytest.mark.postgresql


def verify_audit(*options: str) -> str:
    output = StringIO()
    call_command("verify_audit", *options, stdout=output)
    return output.getvalue()


def check_and_log(caplog: pytest.LogCaptureFixture) -> str:
    with caplog.at_level(logging.INFO):
        run_chain_check(AuditEvent.objects.all()[:1].get().team_id)
    return caplog.text


def find_break(*options: str) -> str:
    output = StringIO()
    with pytest.raises(CommandError, match="is broken") as ended:
        call_command("verify_audit", *options, stdout=output)
    assert ended.value.returncode == 1
    return output.getvalue()


def test_a_row_names_actor_and_team_by_value(
    three_rows: list[AuditEvent], thea: Membership
) -> None:
    row = three_rows[2]
    assert (row.team_id, row.team_name) == (thea.team_id, "Northlight")
    actor = row.actor_kind, row.actor_id, row.actor_name
    assert actor == ("person", str(thea.user_id), "Thea Lindqvist")
    assert (row.before, row.after) == ({"hard": "10"}, {"hard": 2})
    assert not [it for it in AuditEvent._meta.get_fields() if it.is_relation]


def test_each_row_holds_the_hash_of_the_one_before(three_rows: list[AuditEvent]) -> None:
    assert [row.position for row in three_rows] == [1, 2, 3]
    hashes = ["", *(row.row_hash for row in three_rows)]
    assert [row.previous_hash for row in three_rows] == hashes[:3]
    assert [row.compute_hash() for row in three_rows] == hashes[1:]
    assert "3 rows, valid." in verify_audit()


def test_each_team_has_a_chain_of_its_own(three_rows: list[AuditEvent], otto: Membership) -> None:
    record_audit_event(otto, AuditAction.TEAM_TIME_ZONE, otto.team_id)
    assert AuditEvent.objects.get(team_id=otto.team_id).position == 1
    assert "The audit log is valid (2 teams)." in verify_audit()


def test_values_that_a_database_writes_again_keep_their_hash(thea: Membership) -> None:
    after = {"ratio": 1e22, "none": None, "big": 10**30, "text": "ü\u2028😀", "list": [1.50, True]}
    record_audit_event(thea, AuditAction.DRAFT_SAVE, "x", after=after)
    assert "1 rows, valid." in verify_audit()
    assert AuditEvent.objects.get().after["ratio"] == "1e+22"


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("UPDATE dashboard_auditevent SET actor_name = 'Otto' WHERE position = 2", "Row 2 "),
        ("UPDATE dashboard_auditevent SET after = '{}' WHERE position = 3", "Row 3 "),
        ("UPDATE dashboard_auditevent SET team_name = 'South' WHERE position = 1", "Row 1 "),
        ("DELETE FROM dashboard_auditevent WHERE position = 2", "Row 2 is missing; row 3"),
        ("DELETE FROM dashboard_auditevent WHERE position = 3", "Row 3 is missing; the chain"),
        ("DELETE FROM dashboard_auditevent", "Row 1 is missing; the chain has 3 rows."),
        ("UPDATE dashboard_auditevent SET position = 9 WHERE position = 3", "Row 3 is missing"),
        ("DELETE FROM dashboard_auditchainhead", "Row 1 "),
        ("UPDATE dashboard_auditchainhead SET position = 2", "Row 2 does not match the head"),
        ("UPDATE dashboard_auditchainhead SET row_hash = 'f'", "Row 3 does not match the head"),
    ],
)
def test_whatever_is_changed_the_first_broken_row_is_named(
    statement: str, sentence: str, three_rows: list[AuditEvent], tamper: Tamper
) -> None:
    tamper(statement)
    assert sentence in find_break()


CUT_BACK = (
    "DELETE FROM dashboard_auditevent WHERE position = 3",
    "UPDATE dashboard_auditchainhead SET position = 2, row_hash = %s",
)
EMPTIED = ("DELETE FROM dashboard_auditevent", "DELETE FROM dashboard_auditchainhead")


@pytest.mark.parametrize("statements", [CUT_BACK, EMPTIED])
@pytest.mark.parametrize("keeps", [verify_audit, check_and_log])
def test_rows_that_went_with_the_head_are_missed_by_an_anchor(
    keeps: Callable[..., str],
    statements: Sequence[str],
    three_rows: list[AuditEvent],
    tamper: Tamper,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    anchor = tmp_path / "anchor"
    anchor.write_text(keeps(caplog) if keeps is check_and_log else keeps())
    assert "1 of them as in the anchor" in verify_audit("--anchor", str(anchor))
    for statement in statements:
        tamper(statement, *[three_rows[1].row_hash] * statement.count("%s"))
    assert "Row 3 was removed or changed" in find_break("--anchor", str(anchor))
    if keeps is check_and_log:  # the check is known in the database, too
        assert "Row 3 was removed or changed" in find_break()
        return
    assert "valid" in verify_audit()


def test_an_anchor_without_a_head_verifies_nothing(tmp_path: Path, db: None) -> None:
    (tmp_path / "empty").write_text("nothing")
    for name, sentence in (("empty", "has no head"), ("missing", "cannot be read")):
        with pytest.raises(CommandError, match=sentence):
            verify_audit("--anchor", str(tmp_path / name))


def test_a_row_that_was_hashed_again_does_not_fit_the_next(
    three_rows: list[AuditEvent], tamper: Tamper
) -> None:
    forged = three_rows[1]
    forged.actor_name = "Otto"
    tamper(
        "UPDATE dashboard_auditevent SET actor_name = 'Otto', row_hash = %s WHERE position = 2",
        forged.compute_hash(),
    )
    assert f"Row 3 (id {three_rows[2].pk}" in find_break()


def test_the_model_refuses_updates_and_deletions(three_rows: list[AuditEvent]) -> None:
    for change in (
        three_rows[0].save,
        three_rows[0].delete,
        AuditEvent.objects.filter(position=1).delete,
        lambda: AuditEvent.objects.update(action="x"),
        lambda: AuditEvent.objects.bulk_update(three_rows, ["target"]),
    ):
        with pytest.raises(AuditAppendOnlyError), transaction.atomic():
            change()
    assert "3 rows, valid." in verify_audit()


@pytest.mark.skipif(not ON_POSTGRES, reason="SQLite has the model alone")
@pytest.mark.parametrize("verb", ["DELETE FROM {}", "UPDATE {} SET target = 'x'"])
def test_postgresql_refuses_them_whoever_asks(verb: str, three_rows: list[AuditEvent]) -> None:
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        connection.cursor().execute(verb.format("dashboard_auditevent"))
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        models.QuerySet(AuditEvent).update(target="x")
    assert "3 rows, valid." in verify_audit()


def test_rows_outlive_their_team(db: None) -> None:
    team = TeamFactory(name="Shortlived")
    record_audit_event(system_actor(team, "test"), AuditAction.TEAM_TIME_ZONE, team.pk)
    Team.objects.get(pk=team.pk).delete()
    row = AuditEvent.objects.get(team_id=team.pk)
    assert (row.team_name, row.actor_kind, row.actor_name) == ("Shortlived", "system", "test")
    assert "1 rows, valid." in verify_audit()


def test_a_change_that_is_taken_back_leaves_no_row(thea: Membership) -> None:
    with pytest.raises(ValueError), transaction.atomic():  # the test's own
        record_audit_event(thea, AuditAction.ALERT_TEST, "x")
        raise ValueError
    record_audit_event(thea, AuditAction.ALERT_TEST, "y")
    assert AuditEvent.objects.get().position == 1
    assert "1 rows, valid." in verify_audit()


def test_rows_that_are_held_back_come_at_the_end_in_their_order(thea: Membership) -> None:
    with append_audit_rows_last():
        record_audit_event(thea, AuditAction.WEBHOOK_SET, "first")
        record_audit_event(person_actor(thea), AuditAction.WEBHOOK_REMOVE, "second")
        assert not AuditEvent.objects.exists()
    rows = AuditEvent.objects.order_by("position").values_list("target", flat=True)
    assert list(rows) == ["first", "second"]
