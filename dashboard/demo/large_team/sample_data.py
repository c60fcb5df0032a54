"""What the made-up team's people, films and ledger rows are called, and what things cost there."""

from __future__ import annotations

from typing import NamedTuple

from proxyapi.models import JobKind


class SeedFeature(NamedTuple):
    """One thing that is paid for: from `low` to `high` credits, `weight` times as often as 1."""

    operation: str
    label: str
    content_type: str
    low: int
    high: int
    weight: int


SEED_FEATURES: dict[JobKind, tuple[SeedFeature, ...]] = {
    JobKind.FACELESS: (
        SeedFeature("faceless.scripts", "Script generation", "content-prompt", 4, 4, 30),
        SeedFeature("faceless.render", "Faceless video", "ai-visuals", 42, 212, 34),
        SeedFeature("faceless.retry", "Faceless video", "ai-visuals", 42, 212, 6),
        SeedFeature("faceless.export", "Faceless video export", "ai-visuals", 14, 14, 20),
        SeedFeature("ai_visuals.regenerate", "Image regeneration", "ai-visuals", 2, 2, 10),
    ),
    JobKind.CLIP: (
        SeedFeature("text_to_video.create", "Text to video", "text-to-video", 49, 196, 1),
    ),
    JobKind.STORYBOARD: (
        SeedFeature("text_to_scene.prompt", "Scene prompt", "content-prompt", 4, 4, 3),
        SeedFeature("text_to_scene.clips", "Scene clip", "text-to-scene", 49, 98, 5),
        SeedFeature("text_to_scene.render", "Text to scene", "text-to-scene", 20, 60, 2),
    ),
    JobKind.CHARACTER: (
        SeedFeature("characters.preview", "Character preview", "character", 8, 8, 3),
        SeedFeature("characters.train", "Character training", "character", 300, 300, 1),
    ),
    JobKind.CLONE: (
        SeedFeature("voice_clones.create", "Voice clone slot", "voice-clone", 1000, 1000, 1),
    ),
}
COMMON_KINDS = (*[JobKind.FACELESS] * 16, *[JobKind.CLIP] * 4, *[JobKind.STORYBOARD] * 3)
ALL_KINDS = (*COMMON_KINDS * 8, *[JobKind.CHARACTER] * 2, JobKind.CLONE)

CONFIDENCE_REASONS = {
    "certain": "The amount and the time fit this charge alone.",
    "likely": "Two charges of this amount were open; this is the one sent first.",
    "weak": "About the amount that was quoted, at about the time.",
}
CONFIDENCES = (*["certain"] * 93, *["likely"] * 6, "weak")

GIVEN_NAMES = (
    *("Priya", "Luca", "Sofia", "Mira", "Jonas", "Thea", "Vera", "Emil", "Nora", "Amir", "Chen"),
    *("Ines", "Tomas", "Aisha", "Karl", "Yuki", "Rosa", "Pavel", "Leila", "Oskar", "Maja"),
)
FAMILY_NAMES = (
    *("Raman", "Moretti", "Lindqvist", "Sandvik", "Weber", "Costa", "Nakamura", "Okafor"),
    *("Brandt", "Haddad", "Novak", "Silva", "Berg", "Kowalski", "Dubois", "Iversen", "Petrov"),
)
TITLE_OPENINGS = ("How", "Why", "When", "Where", "What happens when")
TITLE_SUBJECTS = (
    *("lighthouses", "glaciers", "night trains", "octopuses", "bees", "deserts", "tides"),
    *("old maps", "paper mills", "volcanoes", "breads", "bridges", "whales", "northern lights"),
)
TITLE_PREDICATES = (
    "survive storms",
    "remember",
    "move at night",
    "change cities",
    "find their way",
    "sleep",
)
