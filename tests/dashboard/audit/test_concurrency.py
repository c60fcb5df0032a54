"""Rows that are written at once follow each other; actions that lock much do not deadlock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from django.db import connection, transaction

from dashboard.maintenance.audit_chain import verify_audit_chains
from dashboard.members.actions.roles import change_member_role
from dashboard.members.actions.team import set_team_time_zone
from dashboard.models import AuditAction, AuditEvent, Membership, Role
from dashboard.shared.audit_log import record_audit_event

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS, ROWS = 6, 10


def run_at_once(works: Sequence[Callable[[], object]]) -> None:
    start = Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        start.wait(120)
        try:
            work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(run, work) for work in works]:
            done.result()


def test_writers_at_once_do_not_fork_the_chain(thea: Membership, otto: Membership) -> None:
    def write(by: Membership) -> None:
        for number in range(ROWS):
            with transaction.atomic():
                record_audit_event(by, AuditAction.ALERT_TEST, number)

    run_at_once([partial(write, thea)] * (WRITERS - 1) + [partial(write, otto)])
    rows = AuditEvent.objects.filter(team_id=thea.team_id)
    assert rows.count() == (WRITERS - 1) * ROWS
    reports = {report.team_id: report for report in verify_audit_chains()}
    assert [report.problem for report in reports.values()] == ["", ""]
    assert reports[otto.team_id].rows == ROWS


def test_changes_of_one_team_at_once_do_not_deadlock(
    mira: Membership, priya: Membership, luca: Membership
) -> None:
    def change_roles() -> None:
        for role in (Role.VIEWER, Role.PRODUCER) * 3:
            for member in (priya, luca):
                change_member_role(by=mira, member=member, role=role)

    def change_zone() -> None:
        for zone in ("Europe/Berlin", "UTC") * 3:
            set_team_time_zone(by=mira, name=zone)

    run_at_once([change_roles, change_zone, change_zone])
    assert [report.problem for report in verify_audit_chains()] == [""]
