"""Page data of the studio, read from our own database, never from the service."""

from __future__ import annotations

from dashboard.shared.video_options import FacelessOptions, account_options
from dashboard.studio.flows import StepSlug
from dashboard.studio.queries.defaults import (
    load_default_settings,
    load_script_defaults,
    load_start_settings,
)
from dashboard.studio.queries.drafts import (
    DRAFT_PAGE_SIZE,
    HOME_DRAFT_COUNT,
    DraftFilters,
    first_open_step,
    load_drafts,
)
from dashboard.studio.queries.home import StudioHome, build_quick_start, load_studio_home
from dashboard.studio.queries.page import StudioPage, load_studio_page
from dashboard.studio.queries.page_source import load_page_source
from dashboard.studio.queries.past_costs import median_costs_by_type
from dashboard.studio.queries.planned_render import build_planned_render_question, render_obstacles
from dashboard.studio.queries.price import (
    DraftPrice,
    RenderButton,
    build_draft_price,
    build_render_button,
    has_active_render,
)
from dashboard.studio.queries.render_question import build_render_question
from dashboard.studio.queries.script import (
    ScriptRequestStatus,
    requires_script_words,
    script_request_status,
)
from dashboard.studio.queries.stills import load_option_stills
from dashboard.studio.queries.voices import VoiceFilter, VoiceList, load_voice_list
