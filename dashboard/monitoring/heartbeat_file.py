"""The file whose age tells a container's health check that a worker or beat is running.

A worker touches it with each heartbeat of its event loop, a beat with each cycle of its schedule
and each attempt to get the lock that another beat holds. It is not touched while Redis does not
answer.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from django.conf import settings


def touch_health_file(**_: object) -> None:
    """Touch `HEALTH_FILE` if it is set. A failure to write is ignored: the file only gets older."""
    if settings.HEALTH_FILE:
        with suppress(OSError):
            Path(settings.HEALTH_FILE).touch()
