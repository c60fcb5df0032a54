"""The studio: drafts, their steps, scripts and renders. `changes` is for the live stream; other
areas link by URL name."""

from __future__ import annotations
