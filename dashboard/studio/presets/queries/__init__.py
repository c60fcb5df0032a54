"""Page data of presets and of the brand kit, read from our own database."""

from __future__ import annotations

from dashboard.studio.presets.queries.cards import (
    PresetCard,
    load_most_used_presets,
)
