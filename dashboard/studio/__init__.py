"""The studio: drafts, their steps, scripts and renders. `changes` is used by the event stream;
other areas link by URL name."""

from __future__ import annotations
