"""Verification that no audit row was changed, removed or added outside the portal.

A chain alone does not show that its last rows were removed together with its head, or the whole
chain. What was kept outside does: lines with the head of each chain, in the logs of the portal, in
backups and in what `verify_audit` prints.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from dashboard.models import AuditChainCheck, AuditChainHead, AuditEvent, Team

HEAD_LINE = "audit head: team {team_id}, entry {position}, hash {row_hash}"
HEAD_LINE_RE = re.compile(r"audit head: team ([0-9a-f-]{36}), entry (\d+), hash ([0-9a-f]{64})")
HEADS_MEMBER = "audit-heads.txt"  # of a backup


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


class KnownHead(NamedTuple):
    """The hash that a row of a chain had, as it was kept elsewhere."""

    team_id: UUID
    position: int
    row_hash: str

    def __str__(self) -> str:
        return HEAD_LINE.format(**self._asdict())


def load_heads() -> list[KnownHead]:
    rows = AuditChainHead.objects.filter(position__gt=0).order_by("team_id")
    return [KnownHead(row.pk, row.position, row.row_hash) for row in rows]


def read_heads(path: Path) -> list[KnownHead]:
    """Return the heads that a backup, or any text such as a log, has. Raises OSError."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            has_heads = HEADS_MEMBER in archive.namelist()
            text = archive.read(HEADS_MEMBER).decode() if has_heads else ""
    else:
        text = path.read_text(errors="replace")
    found = HEAD_LINE_RE.findall(text)
    return [KnownHead(UUID(team), int(position), row_hash) for team, position, row_hash in found]


def verify_audit_chains(anchor: Iterable[KnownHead] = ()) -> list[AuditChainReport]:
    """One report for each team that exists, has audit rows, a head or a check, or is in the anchor,
    by team id."""
    checks = AuditChainCheck.objects.filter(verified_position__gt=0)
    rows = checks.values_list("team_id", "verified_position", "verified_hash")
    known = [*(KnownHead(*row) for row in rows), *anchor]
    teams = {head.team_id for head in known}
    teams |= set(AuditEvent.objects.order_by().values_list("team_id", flat=True).distinct())
    teams |= set(AuditChainHead.objects.values_list("team_id", flat=True))
    teams |= set(Team.objects.values_list("pk", flat=True))
    return [
        verify_known_heads(verify_team_chain(team_id), [h for h in known if h.team_id == team_id])
        for team_id in sorted(teams)
    ]


def verify_known_heads(report: AuditChainReport, known: Sequence[KnownHead]) -> AuditChainReport:
    """Report the first row of an intact chain that is not there as it was known."""
    if report.problem or not known:
        return report
    rows = AuditEvent.objects.filter(
        team_id=report.team_id, position__in={head.position for head in known}
    )
    hashes = dict(rows.values_list("position", "row_hash"))
    for head in sorted(known):
        if hashes.get(head.position) != head.row_hash:
            problem = f"Row {head.position} was removed or changed since its hash was kept."
            return AuditChainReport(report.team_id, head.position - 1, problem)
    return report


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
