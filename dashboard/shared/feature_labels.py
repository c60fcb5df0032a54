"""What pages call the things that credits are spent on, and how sure an attribution is."""

from __future__ import annotations

from proxyapi.models import LedgerEntry, MatchConfidence

OPERATION_LABELS = {
    "scripts": "Script",
    "scrape_script": "Script from a page",
    "render": "Render",
    "retry": "Retry",
    "export": "Export",
    "upload": "Upload",
    "regenerate": "New image",
    "prompt": "Scene prompt",
    "clips": "Scene clips",
    "discover": "Idea search",
    "preview": "Character preview",
    "train": "Character training",
}
FULL_OPERATION_LABELS = {
    "text_to_video.create": "Clip",
    "text_to_scene.render": "Storyboard",
    "voice_clones.create": "Voice clone",
}
AREA_LABELS = {
    "b_roll": "B-roll",
    "ai_visuals": "AI visuals",
    "url_to_video": "from a page",
}
OUTSIDE_LABEL = "Outside the portal"
OTHER_TEAM_LABEL = "Another team of this portal"
# Glyph and word.
CONFIDENCE_LABELS: dict[str, tuple[str, str]] = {
    MatchConfidence.CERTAIN: ("completed", "Certain"),
    MatchConfidence.LIKELY: ("likely", "Likely"),
    MatchConfidence.WEAK: ("likely", "Perhaps"),
}


def feature_label(operation: str) -> str:
    """ "faceless.render" as "Render"; other doors of the same name say which they are."""
    if operation in FULL_OPERATION_LABELS:
        return FULL_OPERATION_LABELS[operation]
    room, _, name = operation.partition(".")
    deed = OPERATION_LABELS.get(name, operation)
    return f"{deed}, {AREA_LABELS[room]}" if room in AREA_LABELS else deed


def entry_title(entry: LedgerEntry) -> str:
    """What a row was for: of ours the feature, else the service's own label."""
    if not entry.operation:
        return entry.label or "Ledger entry"
    told = feature_label(entry.operation)
    return f"{told}, refunded" if entry.amount > 0 else told
