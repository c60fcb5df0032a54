"""What the made-up team's people, films and ledger rows are called, and what things cost there."""

from __future__ import annotations

from typing import NamedTuple

from proxyapi.models import JobKind


class Feature(NamedTuple):
    """One thing that is paid for: from `low` to `high` credits, `weight` times as often as 1."""

    operation: str
    label: str
    content_type: str
    low: int
    high: int
    weight: int


FEATURES: dict[JobKind, tuple[Feature, ...]] = {
    JobKind.FACELESS: (
        Feature("faceless.scripts", "Script generation", "content-prompt", 4, 4, 30),
        Feature("faceless.render", "Faceless video", "ai-visuals", 42, 212, 34),
        Feature("faceless.retry", "Faceless video", "ai-visuals", 42, 212, 6),
        Feature("faceless.export", "Faceless video export", "ai-visuals", 14, 14, 20),
        Feature("ai_visuals.regenerate", "Image regeneration", "ai-visuals", 2, 2, 10),
    ),
    JobKind.CLIP: (Feature("text_to_video.create", "Text to video", "text-to-video", 49, 196, 1),),
    JobKind.STORYBOARD: (
        Feature("text_to_scene.prompt", "Scene prompt", "content-prompt", 4, 4, 3),
        Feature("text_to_scene.clips", "Scene clip", "text-to-scene", 49, 98, 5),
        Feature("text_to_scene.render", "Text to scene", "text-to-scene", 20, 60, 2),
    ),
    JobKind.CHARACTER: (
        Feature("characters.preview", "Character preview", "character", 8, 8, 3),
        Feature("characters.train", "Character training", "character", 300, 300, 1),
    ),
    JobKind.CLONE: (
        Feature("voice_clones.create", "Voice clone slot", "voice-clone", 1000, 1000, 1),
    ),
}
KINDS = (*[JobKind.FACELESS] * 16, *[JobKind.CLIP] * 4, *[JobKind.STORYBOARD] * 3)
RARE_KINDS = (*KINDS * 8, *[JobKind.CHARACTER] * 2, JobKind.CLONE)

REASONS = {
    "certain": "The amount and the time fit this charge alone.",
    "likely": "Two charges of this amount were open; this is the one sent first.",
    "weak": "About the amount that was quoted, at about the time.",
}
CONFIDENCES = (*["certain"] * 93, *["likely"] * 6, "weak")

GIVEN = (
    *("Priya", "Luca", "Sofia", "Mira", "Jonas", "Thea", "Vera", "Emil", "Nora", "Amir", "Chen"),
    *("Ines", "Tomas", "Aisha", "Karl", "Yuki", "Rosa", "Pavel", "Leila", "Oskar", "Maja"),
)
FAMILY = (
    *("Raman", "Moretti", "Lindqvist", "Sandvik", "Weber", "Costa", "Nakamura", "Okafor"),
    *("Brandt", "Haddad", "Novak", "Silva", "Berg", "Kowalski", "Dubois", "Iversen", "Petrov"),
)
OPENINGS = ("How", "Why", "When", "Where", "What happens when")
SUBJECTS = (
    *("lighthouses", "glaciers", "night trains", "octopuses", "bees", "deserts", "tides"),
    *("old maps", "paper mills", "volcanoes", "breads", "bridges", "whales", "northern lights"),
)
DEEDS = ("survive storms", "remember", "move at night", "change cities", "find their way", "sleep")
