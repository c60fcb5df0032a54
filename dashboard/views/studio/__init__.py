"""The studio: drafts, the six steps of a faceless video, its script, its price, its render."""

from __future__ import annotations

from dashboard.views.studio.drafts import drafts, studio
from dashboard.views.studio.renders import price, renders
from dashboard.views.studio.scripts import scripts
from dashboard.views.studio.steps import step

__all__ = ["drafts", "price", "renders", "scripts", "step", "studio"]
