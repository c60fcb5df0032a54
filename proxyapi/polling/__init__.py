"""Polling of running jobs: which job to poll next, and what its answer changes."""

from __future__ import annotations

from datetime import timedelta

FIRST_POLL_DELAY = timedelta(seconds=5)
