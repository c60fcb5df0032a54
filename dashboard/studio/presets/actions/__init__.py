"""Actions on presets and on the brand kit. They read and change our own database only."""

from __future__ import annotations
