"""`manage.py verify_audit`: verify that the audit log is unchanged."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.maintenance.audit_chain import verify_audit_chains


class Command(BaseCommand):
    help = "Verifies the hash chain of each team's audit log. Exit status 1 if a chain is broken."

    def handle(self, *_: Any, **__: Any) -> None:
        reports = verify_audit_chains()
        for report in reports:
            state = report.problem or f"{report.rows} rows, valid."
            self.stdout.write(f"Team {report.team_id}: {state}")
        if broken := [report for report in reports if report.problem]:
            raise CommandError(f"The audit log of {len(broken)} of {len(reports)} teams is broken.")
        self.stdout.write(f"The audit log is valid ({len(reports)} teams).")
