"""Watching: which job to look at next, and what a new answer means."""

from __future__ import annotations

from datetime import timedelta

FIRST_POLL_DELAY = timedelta(seconds=5)
