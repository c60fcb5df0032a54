"""Views of the studio: drafts, steps, script, price and render."""

from __future__ import annotations

from dashboard.studio.views.drafts import create_draft, open_draft, studio
from dashboard.studio.views.renders import draft_price, render_draft
from dashboard.studio.views.scripts import request_script, restore_script_version
from dashboard.studio.views.steps import draft_step
