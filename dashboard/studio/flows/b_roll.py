"""B-roll: stock footage matched to the script. It takes neither a genre nor an image engine."""

from __future__ import annotations

from dashboard.studio.flows.declaration import Flow, FlowStep, OptionSetting, StepSlug
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
    heading="Captions and sound",
    settings=(
        OptionSetting("overlay", "Overlay"),
        OptionSetting("animation", "Motion"),
        OptionSetting("watermark_position", "Watermark"),
    ),
)
B_ROLL = Flow(
    type="b-roll",
    note="Stock footage matched to the script, with a voice-over.",
    steps=(TYPE_STEP, SCRIPT_STEP, VOICE_STEP, VISUALS_STEP, CAPTIONS_STEP, REVIEW_STEP),
    preconditions=(SCRIPT_SET, VOICE_CHOSEN, VOICE_OFFERED),
)
