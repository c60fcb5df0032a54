"""AI visuals: a generated image for each part of the script."""

from __future__ import annotations

from dashboard.studio.flows.declaration import Flow, OptionSetting, SettingControl, SettingSection
from dashboard.studio.flows.faceless_steps import (
    BACKGROUND,
    CAPTIONS_STEP,
    CHARACTER,
    GENRE,
    GENRE_SET,
    REVIEW_STEP,
    SCRIPT_SET,
    SCRIPT_STEP,
    TYPE_STEP,
    VOICE_CHOSEN,
    VOICE_OFFERED,
    VOICE_STEP,
    visuals_step,
)

IMAGE_ENGINE = OptionSetting(
    "image_engine_id",
    "Image engine",
    required_error="Choose an image engine.",
    starts_with_first=True,
    control=SettingControl.CARDS,
    section=SettingSection("Image engine", "multiplies the price"),
)
VISUALS_STEP = visuals_step(IMAGE_ENGINE, GENRE, CHARACTER, BACKGROUND, needs="a genre")
AI_VISUALS = Flow(
    type="ai-visuals",
    note="A painted image for each scene, read by a voice.",
    steps=(TYPE_STEP, SCRIPT_STEP, VOICE_STEP, VISUALS_STEP, CAPTIONS_STEP, REVIEW_STEP),
    preconditions=(SCRIPT_SET, VOICE_CHOSEN, VOICE_OFFERED, GENRE_SET),
)
