"""Clips, from text to video. The request that creates a clip charges for it."""

from __future__ import annotations

from proxyapi.kinds.declaration import KindSpec
from proxyapi.operations import JobKind

CLIP = KindSpec(JobKind.CLIP, "asset", frozenset({"success"}), frozenset({"failed"}))
