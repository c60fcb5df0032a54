"""The demo team and the large team for measurements, for the seed commands alone."""

from __future__ import annotations
