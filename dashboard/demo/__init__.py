"""The demo team, and a large team for measurements, for the seed commands only."""

from __future__ import annotations
