"""Videos as several areas show them: `cards`, `status_text`, `progress`."""

from __future__ import annotations
