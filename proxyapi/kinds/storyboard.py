"""Storyboards, from text to scene. The spec shows no failing word and no address of the video: one
that is shown, and empty, is still to come."""

from __future__ import annotations

from proxyapi.kinds.declaration import KindSpec
from proxyapi.operations import JobKind

STORYBOARD = KindSpec(
    JobKind.STORYBOARD, "video", frozenset({"completed"}), may_hide_media_url=True
)
