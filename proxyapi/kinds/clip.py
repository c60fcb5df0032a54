"""Clips, from text to video. One is paid for by the request that creates it."""

from __future__ import annotations

from proxyapi.kinds.declaration import KindSpec
from proxyapi.operations import JobKind

CLIP = KindSpec(JobKind.CLIP, "asset", frozenset({"success"}), frozenset({"failed"}))
