"""Steps and preconditions that several faceless types use."""

from __future__ import annotations

from typing import Any

from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows.declaration import (
    FlowStep,
    OptionSetting,
    Precondition,
    SettingControl,
    SettingSection,
    StepSlug,
)

FORMAT = OptionSetting(
    "aspect_ratio",
    "Format",
    required_error="Choose a format.",
    is_needed=True,
    starts_with_first=True,
    control=SettingControl.CARDS,
)
TYPE_STEP = FlowStep(
    StepSlug.TYPE,
    "Type",
    needs="a format",
    settings=(FORMAT,),
    template="studio/steps/type.html",
)
SCRIPT_STEP = FlowStep(
    StepSlug.SCRIPT, "Script", needs="a script", template="studio/steps/script.html"
)
VOICE_STEP = FlowStep(
    StepSlug.VOICE,
    "Voice",
    needs="a voice",
    settings=(
        OptionSetting("voice_id", "Voice", required_error="Choose a voice.", is_needed=True),
    ),
    template="studio/steps/voice.html",
)
GENRE = OptionSetting(
    "genre_id",
    "Genre",
    required_error="Choose a genre. This type cannot be rendered without one.",
    is_needed=True,
    control=SettingControl.STILLS,
    section=SettingSection("Genre", "a still of each"),
)
CHARACTER = OptionSetting("character_id", "Character", control=SettingControl.PEOPLE)
BACKGROUND = OptionSetting("background_id", "Background", control=SettingControl.SWATCHES)
OVERLAY = OptionSetting("overlay", "Overlay", control=SettingControl.SAMPLES)
MOTION = OptionSetting("animation", "Motion")
WATERMARK = OptionSetting("watermark_position", "Watermark", control=SettingControl.CORNERS)


def visuals_step(*settings: OptionSetting, needs: str = "") -> FlowStep:
    """Return the step of the pictures: own settings of a type first, then the optional ones."""
    heading = "Character, background and overlays" if CHARACTER in settings else "Overlays"
    if BACKGROUND in settings and CHARACTER not in settings:
        heading = "Background and overlays"
    return FlowStep(
        StepSlug.VISUALS,
        "Visuals",
        heading=heading,
        needs=needs,
        settings=(*settings, OVERLAY, MOTION, WATERMARK),
    )


CAPTIONS_STEP = FlowStep(
    StepSlug.CAPTIONS,
    "Captions and sound",
    heading="Captions and sound",
    settings=(
        OptionSetting("font", "Font", control=SettingControl.SAMPLES),
        OptionSetting("caption_effect", "Caption effect", control=SettingControl.SAMPLES),
        OptionSetting("caption_position", "Caption position", control=SettingControl.SAMPLES),
        OptionSetting("transition", "Transition", control=SettingControl.SAMPLES),
        OptionSetting("volume", "Music"),
        OptionSetting("sfx", "Sound effects"),
    ),
)
REVIEW_STEP = FlowStep(StepSlug.REVIEW, "Review", template="studio/steps/review.html")


def find_voice_problem(chosen: dict[str, Any], options: FacelessOptions) -> str:
    """The service would still render with a voice whose consent was withdrawn."""
    is_withdrawn = str(chosen.get("voice_id")) in options.withdrawn_voice_ids
    return "The consent to this voice was withdrawn. Choose another one" if is_withdrawn else ""


WRITE_SCRIPT = "Write or paste a script"
CHOOSE_VOICE = "Choose a voice"
SCRIPT_SET = Precondition(
    "script", "script", "Script is set", WRITE_SCRIPT, StepSlug.SCRIPT, "Add it"
)
VOICE_CHOSEN = Precondition("voice_id", "voice", "Voice is chosen", CHOOSE_VOICE, StepSlug.VOICE)
VOICE_OFFERED = Precondition(
    "voice_id",
    "voice",
    "Voice is available at the service",
    CHOOSE_VOICE,
    StepSlug.VOICE,
    must_be_offered=True,
    find_problem=find_voice_problem,
)
GENRE_SET = Precondition(
    "genre_id", "genre", "Genre is set", "Choose a genre", StepSlug.VISUALS, must_be_offered=True
)
