"""What pages call the things that credits are spent on, and how sure an attribution is."""

from __future__ import annotations

from proxyapi.models import LedgerEntry, MatchConfidence

DEEDS = {
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
WHOLE = {
    "text_to_video.create": "Clip",
    "text_to_scene.render": "Storyboard",
    "voice_clones.create": "Voice clone",
}
ROOMS = {
    "b_roll": "B-roll",
    "ai_visuals": "AI visuals",
    "url_to_video": "from a page",
}
OUTSIDE = "Outside the portal"
OTHER_TEAM = "Another team of this portal"
# Glyph and word.
SURE: dict[str, tuple[str, str]] = {
    MatchConfidence.CERTAIN: ("completed", "Certain"),
    MatchConfidence.LIKELY: ("likely", "Likely"),
    MatchConfidence.WEAK: ("likely", "Perhaps"),
}


def feature(operation: str) -> str:
    """ "faceless.render" as "Render"; other doors of the same name say which they are."""
    if operation in WHOLE:
        return WHOLE[operation]
    room, _, name = operation.partition(".")
    deed = DEEDS.get(name, operation)
    return f"{deed}, {ROOMS[room]}" if room in ROOMS else deed


def what(entry: LedgerEntry) -> str:
    """What a row was for: of ours the feature, else the service's own label."""
    if not entry.operation:
        return entry.label or "Ledger entry"
    told = feature(entry.operation)
    return f"{told}, refunded" if entry.amount > 0 else told
