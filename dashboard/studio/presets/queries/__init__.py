"""Page data of presets and of the brand kit, read from our own database."""

from __future__ import annotations

from dashboard.studio.presets.queries.brand_kit import (
    DraftKit,
    load_draft_kit,
)
from dashboard.studio.presets.queries.cards import PresetCard, load_most_used_presets
from dashboard.studio.presets.queries.list import (
    PresetFilters,
    load_presets_page,
)
from dashboard.studio.presets.queries.save_dialog import (
    PresetSource,
    build_keep_rows,
    load_preset_sources,
)
