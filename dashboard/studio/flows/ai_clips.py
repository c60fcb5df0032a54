"""AI clips: moving clips from a clip engine, at its price per second."""

from __future__ import annotations

from typing import Any

from dashboard.shared.clip_engines import ClipCombination
from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.flows.declaration import (
    Flow,
    OptionSetting,
    Precondition,
    SettingControl,
    SettingSection,
    StepSlug,
)
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


def find_clip_problem(chosen: dict[str, Any], options: FacelessOptions) -> str:
    """Return why the chosen clip engine cannot make the video: it is gone or outside the plan, it
    does not make the format, or it has no price for the resolution and sound."""
    value = chosen.get("clip_engine_id")
    if not value or not options.clip_engines:
        return ""
    engine = options.clip_engine(value)
    if engine is None:
        return "The clip engine is no longer offered"
    if not engine.is_in_plan:
        return f"{engine.name} is not in the plan"
    ratio = str(chosen.get("aspect_ratio") or "")
    if not engine.makes_ratio(ratio):
        return f"{engine.name} does not make {ratio}"
    combination = chosen_combination(chosen)
    if combination.value not in engine.offered:
        if not chosen.get("resolution") and not chosen.get("audio"):
            return f"{engine.name} needs a resolution and a sound setting"
        return f"{engine.name} does not offer {combination.name}"
    return ""


def chosen_combination(chosen: dict[str, Any]) -> ClipCombination:
    """Return the resolution and audio value of the settings, without a price."""
    return ClipCombination(
        str(chosen.get("resolution") or ""), str(chosen.get("audio") or ""), None
    )


def find_clip_formats(chosen: dict[str, Any], options: FacelessOptions) -> frozenset[str]:
    """Return the formats of the chosen clip engine; without one those of all engines of the plan.
    Empty if they are not known."""
    engine = options.clip_engine(chosen.get("clip_engine_id"))
    engines = [engine] if engine else [one for one in options.clip_engines if one.is_in_plan]
    if not all(one.aspect_ratios for one in engines):
        return frozenset()
    return frozenset(ratio for one in engines for ratio in one.aspect_ratios)


CLIP_ENGINE_SECTION = SettingSection("Clip engine", "credits a second")
CLIP_ENGINE = OptionSetting(
    "clip_engine_id",
    "Clip engine",
    required_error="Choose a clip engine.",
    is_needed=True,
    control=SettingControl.ENGINES,
    section=CLIP_ENGINE_SECTION,
)
RESOLUTION = OptionSetting(
    "resolution", "Resolution", control=SettingControl.WITH_ENGINE, section=CLIP_ENGINE_SECTION
)
SOUND = OptionSetting(
    "audio", "Sound", control=SettingControl.WITH_ENGINE, section=CLIP_ENGINE_SECTION
)
VISUALS_STEP = visuals_step(
    CLIP_ENGINE,
    RESOLUTION,
    SOUND,
    GENRE,
    CHARACTER,
    BACKGROUND,
    needs="a clip engine and a genre",
)
AI_CLIPS = Flow(
    type="ai-clips",
    note="Moving clips from a clip engine, read by a voice.",
    steps=(TYPE_STEP, SCRIPT_STEP, VOICE_STEP, VISUALS_STEP, CAPTIONS_STEP, REVIEW_STEP),
    preconditions=(
        SCRIPT_SET,
        VOICE_CHOSEN,
        VOICE_OFFERED,
        GENRE_SET,
        Precondition(
            "clip_engine_id",
            "clip engine",
            "Clip engine is chosen",
            "Choose a clip engine",
            StepSlug.VISUALS,
            only_if_offered=True,
            find_problem=find_clip_problem,
        ),
    ),
    find_formats=find_clip_formats,
)
