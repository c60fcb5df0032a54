"""Verification that no audit row was changed, removed or added outside the portal."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from dashboard.models import AuditChainHead, AuditEvent


@dataclass(frozen=True, slots=True)
class AuditChainReport:
    """`rows` is the number of rows read up to the end or the first broken row. `problem` describes
    that row; it is empty if the chain is intact, and `row_hash` is then that of its last row."""

    team_id: UUID
    rows: int
    problem: str
    row_hash: str = ""

    @property
    def broken_position(self) -> int | None:
        """Return the position of the first row that is not as it was written."""
        return self.rows + 1 if self.problem else None


def verify_audit_chains() -> list[AuditChainReport]:
    """One report per team with audit rows or a chain head, by team id."""
    teams = set(AuditEvent.objects.order_by().values_list("team_id", flat=True).distinct())
    teams |= set(AuditChainHead.objects.values_list("team_id", flat=True))
    return [verify_team_chain(team_id) for team_id in sorted(teams)]


def verify_team_chain(team_id: UUID) -> AuditChainReport:
    # The head is read first: rows that are added meanwhile come after it.
    head = AuditChainHead.objects.filter(pk=team_id).first() or AuditChainHead(pk=team_id)
    rows = AuditEvent.objects.filter(team_id=team_id).order_by("position")
    position, previous_hash = 0, ""
    for row in rows.filter(position__lte=head.position).iterator():
        if problem := find_row_problem(row, position + 1, previous_hash):
            return AuditChainReport(team_id, position, problem)
        position, previous_hash = row.position, row.row_hash
    if position < head.position:
        problem = f"Row {position + 1} is missing; the chain has {head.position} rows."
        return AuditChainReport(team_id, position, problem)
    if previous_hash != head.row_hash:
        return AuditChainReport(
            team_id, position, f"Row {position} does not match the head of the chain."
        )
    return AuditChainReport(team_id, position, find_extra_row(team_id), previous_hash)


def find_row_problem(row: AuditEvent, position: int, previous_hash: str) -> str:
    if row.position != position:
        return f"Row {position} is missing; row {row.position} (id {row.pk}) follows."
    row_text = f"Row {position} (id {row.pk}, {row.happened_at.isoformat()}, {row.action})"
    if row.previous_hash != previous_hash:
        return f"{row_text} does not follow the row before it."
    if row.row_hash != row.compute_hash():
        return f"{row_text} was changed after it was written."
    return ""


def find_extra_row(team_id: UUID) -> str:
    """A sentence about a row after the end of the chain; one statement reads head and row."""
    end = AuditChainHead.objects.filter(pk=OuterRef("team_id")).values("position")
    rows = AuditEvent.objects.filter(team_id=team_id)
    extra = rows.filter(position__gt=Coalesce(Subquery(end), 0)).order_by("position").first()
    return (
        ""
        if extra is None
        else f"Row {extra.position} (id {extra.pk}) was not added by the portal."
    )
