"""Storyboards: a film made of scenes. The pages that start one, the editor, clips and render.
`changes` is used by the event stream; other areas link by URL name."""

from __future__ import annotations
