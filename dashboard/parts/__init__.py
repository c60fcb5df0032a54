"""Parts of a video: the images of its scenes, and its exports. `changes` is used by the event
stream; other areas link by URL name."""

from __future__ import annotations
