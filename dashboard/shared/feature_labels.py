"""What pages call the things that credits are spent on, and how sure an attribution is."""

from __future__ import annotations

from proxyapi.models import LedgerEntry, MatchConfidence
from proxyapi.operations import OPERATIONS

OUTSIDE_LABEL = "Outside the portal"
OTHER_TEAM_LABEL = "Another team of this portal"
# Glyph and word.
CONFIDENCE_LABELS: dict[str, tuple[str, str]] = {
    MatchConfidence.CERTAIN: ("completed", "Certain"),
    MatchConfidence.LIKELY: ("likely", "Likely"),
    MatchConfidence.WEAK: ("likely", "Perhaps"),
}


def feature_label(operation: str) -> str:
    """The label of the table of operations; a name outside of it is its own label."""
    row = OPERATIONS.get(operation)
    return row.label or operation if row else operation


def entry_title(entry: LedgerEntry) -> str:
    """What a row was for: of ours the feature, else the service's own label."""
    if not entry.operation:
        return entry.label or "Ledger entry"
    told = feature_label(entry.operation)
    return f"{told}, refunded" if entry.amount > 0 else told
