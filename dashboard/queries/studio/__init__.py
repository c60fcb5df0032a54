"""What the pages of the studio show: frozen, read from our own database, never from the service."""

from __future__ import annotations

from dashboard.queries.studio.confirm import Confirm, confirm_of
from dashboard.queries.studio.drafts import DraftList, drafts_of
from dashboard.queries.studio.options import Options, options_in
from dashboard.queries.studio.page import Page, page_of
from dashboard.queries.studio.price import Price, RenderAct, act_of, is_busy, price_of
from dashboard.queries.studio.script import Writing, writing_of
from dashboard.queries.studio.steps import Slug
from dashboard.queries.studio.voices import VoiceList, Wish, voices_of

__all__ = [
    "Confirm",
    "DraftList",
    "Options",
    "Page",
    "Price",
    "RenderAct",
    "Slug",
    "VoiceList",
    "Wish",
    "Writing",
    "act_of",
    "confirm_of",
    "drafts_of",
    "is_busy",
    "options_in",
    "page_of",
    "price_of",
    "voices_of",
    "writing_of",
]
