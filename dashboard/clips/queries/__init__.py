"""Reads of the clips pages. Views use the names listed here."""

from __future__ import annotations

from dashboard.clips.queries.composer import Composer, build_composer, load_last_clip
from dashboard.clips.queries.filters import ClipFilters
from dashboard.clips.queries.price import ClipPriceCard, build_clip_price
from dashboard.clips.queries.question import build_clip_question
from dashboard.clips.queries.recent import RecentClips, load_clip_chips, load_recent_clips
