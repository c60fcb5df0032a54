"""Kinds: one module for each kind of job with what differs between kinds. All use the names of
`KindSpec`; what a kind does not have is absent.

Other packages use the names listed here: `KINDS[job.kind]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proxyapi.kinds.character import CHANGEABLE_STATES, CHARACTER, TRAINING_FIELDS
from proxyapi.kinds.clip import (
    ADDRESS_KEY,
    CLIP,
    CREATE_CLIP_OPERATION,
    FILE_KEY,
    MAX_PROMPT_WORDS,
    MIN_PROMPT_WORDS,
    OPTION_FIELDS,
    REFERENCE_FIELDS,
    clip_body,
    clip_parameters,
)
from proxyapi.kinds.declaration import KindSpec, StatusReading, UpstreamRecord
from proxyapi.kinds.faceless import FACELESS
from proxyapi.kinds.faceless_draft import (
    MAX_PRICE_AGE,
    awaits_approval,
    has_unread_script,
    script_digest,
    unread_script_marker,
)
from proxyapi.kinds.storyboard import STORYBOARD
from proxyapi.kinds.storyboard_copy import (
    SCENE_CLIPS_OPERATION,
    SCENE_FIELDS,
    STORYBOARD_RENDER_OPERATION,
    WRITING_OPERATION,
    can_take,
    changed_fields,
    copy_content,
    scenes_by_id,
)
from proxyapi.kinds.storyboard_writing import UNREAD_WRITING_KEY
from proxyapi.kinds.voice_clone import VOICE_CLONE

KINDS: Mapping[str, KindSpec] = MappingProxyType(
    {spec.kind: spec for spec in (FACELESS, CLIP, STORYBOARD, VOICE_CLONE, CHARACTER)}
)
