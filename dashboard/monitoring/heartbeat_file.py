"""The file by whose age a container's health check sees that a worker or a beat goes on.

A worker touches it with each heartbeat of its event loop, a beat with each turn of its schedule and
with each try for the lock that another beat has. While Redis does not answer it grows old.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings


def touch_health_file(**_: object) -> None:
    """Nothing where none is named. One that cannot be written ends nobody's work: it grows old."""
    if settings.HEALTH_FILE:
        with suppress(OSError):
            Path(settings.HEALTH_FILE).touch()
