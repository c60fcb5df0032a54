"""Which settings are kept, in the groups in which a member chooses them."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.studio.flows import FLOWS

# The parts of a script request that are no words (spec, PUT /faceless/{faceless}/scripts).
SCRIPT_REQUEST_FIELDS = ("duration", "style", "tone", "language")
FORMAT_FIELD, VOICE_FIELD = "aspect_ratio", "voice_id"
BRAND_KIT_FIELDS = ("font", "caption_effect", "caption_position", "overlay", "watermark_position")


@dataclass(frozen=True, slots=True)
class SettingGroup:
    """Settings that are kept or left out together. `values` are kept as they are, such as the
    resolution of a clip engine."""

    name: str
    label: str
    options: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


CAPTIONS_GROUP = SettingGroup(
    "captions",
    "Captions and watermark",
    ("font", "caption_effect", "caption_position", "watermark_position"),
)
SCRIPT_GROUP = SettingGroup("script", "Script settings")
SETTING_GROUPS = (
    SettingGroup("voice", "Voice", (VOICE_FIELD,)),
    SettingGroup("image_engine", "Image engine", ("image_engine_id",)),
    SettingGroup("clip_engine", "Clip engine", ("clip_engine_id",), ("resolution", "audio")),
    SettingGroup("genre", "Genre", ("genre_id",)),
    SettingGroup("character", "Character", ("character_id",)),
    SettingGroup("scene", "Background, overlay, motion", ("background_id", "overlay", "animation")),
    CAPTIONS_GROUP,
    SettingGroup("sound", "Transitions and sound", ("transition", "sfx", "volume")),
    SCRIPT_GROUP,
)
# Settings that are kept by value, because they mean something only with the option of their group.
VALUE_FIELDS = frozenset(name for group in SETTING_GROUPS for name in group.values)


def setting_label(field: str) -> str:
    """Return the label that the studio's steps give to a setting."""
    declared = (flow.settings[field].label for flow in FLOWS.values() if field in flow.settings)
    return next(declared, field.removesuffix("_id").replace("_", " ").capitalize())
