"""Page labels of operations and of match confidence."""

from __future__ import annotations

from proxyapi.models import LedgerEntry, MatchConfidence
from proxyapi.operations import OPERATIONS

OUTSIDE_LABEL = "Outside the portal"
IMPORTED_LABEL = "Imported videos"
OTHER_TEAM_LABEL = "Another team of this portal"
# Glyph and label.
CONFIDENCE_LABELS: dict[str, tuple[str, str]] = {
    MatchConfidence.CERTAIN: ("completed", "Certain"),
    MatchConfidence.LIKELY: ("likely", "Likely"),
    MatchConfidence.WEAK: ("likely", "Perhaps"),
}


def feature_label(operation: str) -> str:
    """Return the operation's label, or its name if `OPERATIONS` does not list it. Entries of
    imported videos have none."""
    if not operation:
        return IMPORTED_LABEL
    row = OPERATIONS.get(operation)
    return row.label or operation if row else operation


def entry_title(entry: LedgerEntry) -> str:
    """Return the feature of a ledger row made by this portal, else the service's label."""
    if not entry.operation:
        return entry.label or "Ledger entry"
    title = feature_label(entry.operation)
    return f"{title}, refunded" if entry.amount > 0 else title
