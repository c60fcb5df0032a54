"""Health, readiness, log format and outages, for `urls`, settings and processes."""

from __future__ import annotations
