"""What the forecast page shows."""

from __future__ import annotations
