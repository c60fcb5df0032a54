"""The studio: drafts, the six steps of a faceless video, its script, its price, its render."""

from __future__ import annotations

from dashboard.views.studio.drafts import create_draft, studio
from dashboard.views.studio.renders import draft_price, render_draft
from dashboard.views.studio.scripts import request_script
from dashboard.views.studio.steps import draft_step

__all__ = ["create_draft", "draft_price", "draft_step", "render_draft", "request_script", "studio"]
