"""Operations: one row per endpoint of the spec (`table`), and the groups that queries filter by.

Other packages use the names listed here. A test of one charge reads its row (`get_operation`); a
database filter uses the names of a group.
"""

from __future__ import annotations

from collections.abc import Callable

from proxyapi.operations.operation import (
    EVIDENCE_READS,
    ExecutionEvidence,
    JobKind,
    Operation,
    Price,
    PriceRule,
    RatePool,
)
from proxyapi.operations.row_builders import DEFAULT_SCRIPT_PRICE, SCRIPT_PRICE
from proxyapi.operations.table import OPERATIONS, get_operation


def _names(has: Callable[[Operation], bool]) -> tuple[str, ...]:
    return tuple(row.name for row in OPERATIONS.values() if has(row))


CHARGING_OPERATIONS = _names(lambda row: row.charging)
CHARGED_CREATE_OPERATIONS = _names(lambda row: row.is_charged_create)
RENDER_OPERATIONS = _names(lambda row: row.starts_rendering)
FACELESS_RENDER_OPERATIONS = _names(
    lambda row: row.starts_rendering and row.kind is JobKind.FACELESS
)
JOB_STARTING_OPERATIONS = _names(lambda row: row.starts_job)
REFUNDABLE_OPERATIONS = _names(lambda row: row.refundable)
PART_OPERATIONS = _names(lambda row: row.changes_part)
# Of a storyboard's scenes: the writing of them, and their clips.
SCENE_OPERATIONS = _names(
    lambda row: row.charging and row.kind is JobKind.STORYBOARD and bool(row.part_list)
)
# Charges that leave their video as it is.
SIDE_OPERATIONS = _names(lambda row: row.changes_part or row.name in SCENE_OPERATIONS)
(PREVIEW_OPERATION,) = _names(lambda row: row.adds_parts)
(TRAINING_OPERATION,) = _names(lambda row: row.starts_rendering and row.kind is JobKind.CHARACTER)
(CHARACTER_CREATE_OPERATION,) = _names(lambda row: row.creates and row.kind is JobKind.CHARACTER)
(CHARACTER_GENRES_OPERATION,) = _names(lambda row: row.path.endswith("/genres"))
(EXPORT_OPERATION,) = _names(lambda row: row.part_list == "exports")
(OWN_MEDIA_OPERATION,) = _names(lambda row: row.part_list == "assets")
(NEW_IMAGE_OPERATION,) = _names(lambda row: row.changes_part and not row.part_list)
(IDEA_SEARCH_OPERATION,) = _names(lambda row: row.evidence is ExecutionEvidence.IDEAS)
SCRIPT_OPERATIONS = _names(lambda row: row.writes_script)
ESTIMATED_RENDER_OPERATIONS = _names(
    lambda row: row.starts_rendering and row.price.rule is PriceRule.ESTIMATE
)


def retry_operation_of(kind: str) -> str | None:
    """The name of the operation that runs a failed job of that kind again, or None."""
    return next(iter(_names(lambda row: row.restarts_failed and row.kind == kind)), None)


def status_read_of(kind: JobKind) -> str:
    """The name of the read that a job of that kind is polled with."""
    return _names(lambda row: row.kind is kind and row.path.endswith("/{id}") and not row.charging)[
        0
    ]
