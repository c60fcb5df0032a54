"""Storyboards, from text to scene. The spec documents no failed status and no video URL: an empty
URL means that the video is not ready yet."""

from __future__ import annotations

from proxyapi.kinds.declaration import KindSpec
from proxyapi.operations import JobKind

STORYBOARD = KindSpec(
    JobKind.STORYBOARD, "video", frozenset({"completed"}), may_hide_media_url=True
)
