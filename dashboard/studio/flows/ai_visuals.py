"""AI visuals: a generated image for each part of the script."""

from __future__ import annotations

from dashboard.studio.flows.declaration import (
    Flow,
    FlowStep,
    OptionSetting,
    Precondition,
    StepSlug,
)
from dashboard.studio.flows.faceless_steps import (
    CAPTIONS_STEP,
    REVIEW_STEP,
    SCRIPT_SET,
    SCRIPT_STEP,
    TYPE_STEP,
    VOICE_CHOSEN,
    VOICE_OFFERED,
    VOICE_STEP,
)

VISUALS_STEP = FlowStep(
    StepSlug.VISUALS,
    "Visuals",
    heading="Visuals",
    needs="a genre",
    settings=(
        OptionSetting(
            "genre_id",
            "Genre",
            required_error="Choose a genre. AI visuals cannot be rendered without one.",
            is_needed=True,
            as_cards=True,
        ),
        OptionSetting(
            "image_engine_id",
            "Image engine",
            required_error="Choose an image engine.",
            starts_with_first=True,
            as_cards=True,
        ),
    ),
)
AI_VISUALS = Flow(
    type="ai-visuals",
    note="A generated image for each part of the script, with a voice-over.",
    steps=(TYPE_STEP, SCRIPT_STEP, VOICE_STEP, VISUALS_STEP, CAPTIONS_STEP, REVIEW_STEP),
    preconditions=(
        SCRIPT_SET,
        VOICE_CHOSEN,
        VOICE_OFFERED,
        Precondition(
            "genre_id",
            "genre",
            "Genre is set for AI visuals",
            StepSlug.VISUALS,
            must_be_offered=True,
        ),
    ),
)
