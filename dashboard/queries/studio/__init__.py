"""What the pages of the studio show: frozen, read from our own database, never from the service."""

from __future__ import annotations

from dashboard.queries.studio.confirm import RenderConfirmation, build_render_confirmation
from dashboard.queries.studio.drafts import DraftList, load_draft_list
from dashboard.queries.studio.options import FacelessOptions, parse_faceless_options
from dashboard.queries.studio.page import StudioPage, load_studio_page
from dashboard.queries.studio.price import (
    DraftPrice,
    RenderButton,
    build_draft_price,
    build_render_button,
    has_active_render,
)
from dashboard.queries.studio.script import ScriptRequestStatus, script_request_status
from dashboard.queries.studio.steps import StepSlug
from dashboard.queries.studio.voices import VoiceFilter, VoiceList, load_voice_list

__all__ = [
    "DraftList",
    "DraftPrice",
    "FacelessOptions",
    "RenderButton",
    "RenderConfirmation",
    "ScriptRequestStatus",
    "StepSlug",
    "StudioPage",
    "VoiceFilter",
    "VoiceList",
    "build_draft_price",
    "build_render_button",
    "build_render_confirmation",
    "has_active_render",
    "load_draft_list",
    "load_studio_page",
    "load_voice_list",
    "parse_faceless_options",
    "script_request_status",
]
