"""Views of the studio: drafts, steps, script, price and render."""

from __future__ import annotations

from dashboard.studio.views.copies import copy_video
from dashboard.studio.views.drafts import delete_draft, drafts, open_draft, restore_draft
from dashboard.studio.views.home import read_start, studio
from dashboard.studio.views.ideas import make_idea_drafts
from dashboard.studio.views.pages import arrange_page_images, page_read
from dashboard.studio.views.planned_renders import plan_render
from dashboard.studio.views.renders import (
    RenderDraft,
    cancel_scheduled_render,
    draft_price,
    restore_scheduled_render,
)
from dashboard.studio.views.scripts import request_script, restore_script_version
from dashboard.studio.views.steps import draft_step, undo_type_change
from dashboard.studio.views.versions import RenderVersions, choose_versions
