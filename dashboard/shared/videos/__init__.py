"""Videos as several areas show them: `cards`, `status_text`, `progress`, `typical_durations`."""

from __future__ import annotations
