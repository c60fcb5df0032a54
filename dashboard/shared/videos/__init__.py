"""How areas show videos: `cards`, `status_text` and `progress`."""

from __future__ import annotations
