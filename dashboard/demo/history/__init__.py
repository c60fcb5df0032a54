"""Sixty days of the demo team's past: made at the sandbox, then stored here as the portal would
have stored it at those times."""

from __future__ import annotations
