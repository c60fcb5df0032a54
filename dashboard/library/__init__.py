"""The video library and the page of a video. `changes` is used by the event stream; other areas
link by URL name."""

from __future__ import annotations
