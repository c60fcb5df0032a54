"""`manage.py verify_audit`: verify that the audit log is unchanged."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from dashboard.maintenance.audit_chain import load_heads, read_heads, verify_audit_chains


class Command(BaseCommand):
    help = "Verifies the hash chain of each team's audit log. Exit status 1 if a chain is broken."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--anchor",
            type=Path,
            metavar="FILE",
            help="a backup, a log of the portal, or what this command printed before",
        )

    def handle(self, *_: Any, anchor: Path | None, **__: Any) -> None:
        try:
            heads = read_heads(anchor) if anchor else []
        except OSError as error:
            raise CommandError(f"{anchor} cannot be read: {error.strerror}.") from None
        if anchor and not heads:
            raise CommandError(f"{anchor} has no head of an audit log. Nothing was verified.")
        reports = verify_audit_chains(heads)
        for report in reports:
            state = report.problem or f"{report.rows} rows, valid."
            self.stdout.write(f"Team {report.team_id}: {state}")
        if broken := [report for report in reports if report.problem]:
            raise CommandError(f"The audit log of {len(broken)} of {len(reports)} teams is broken.")
        for head in load_heads():
            self.stdout.write(str(head))
        compared = f", {len({head.team_id for head in heads})} of them as in the anchor"
        count = f"{len(reports)} teams{compared if heads else ''}"
        self.stdout.write(f"The audit log is valid ({count}).")
