"""Steps and preconditions that several faceless types use."""

from __future__ import annotations

from dashboard.studio.flows.declaration import FlowStep, OptionSetting, Precondition, StepSlug

TYPE_STEP = FlowStep(
    StepSlug.TYPE,
    "Type",
    needs="a format",
    settings=(
        OptionSetting(
            "aspect_ratio",
            "Format",
            required_error="Choose a format.",
            is_needed=True,
            starts_with_first=True,
            as_cards=True,
        ),
    ),
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
CAPTIONS_STEP = FlowStep(
    StepSlug.CAPTIONS,
    "Captions and sound",
    heading="Captions and sound",
    settings=(
        OptionSetting("font", "Font"),
        OptionSetting("caption_effect", "Caption effect"),
        OptionSetting("caption_position", "Caption position"),
        OptionSetting("transition", "Transition"),
        OptionSetting("volume", "Music"),
    ),
)
REVIEW_STEP = FlowStep(StepSlug.REVIEW, "Review", template="studio/steps/review.html")

SCRIPT_SET = Precondition("script", "script", "Script is set", StepSlug.SCRIPT, "Add it")
VOICE_CHOSEN = Precondition("voice_id", "voice", "Voice is chosen", StepSlug.VOICE)
VOICE_OFFERED = Precondition(
    "voice_id", "voice", "Voice is available at the service", StepSlug.VOICE, must_be_offered=True
)
