"""What outlives a rolled-back transaction: Redis, the charge log on the disk, and the difference
from the service's clock that was learned last."""

from __future__ import annotations

import shutil

import redis
from django.conf import settings

from proxyapi import clock_offset


def empty_external_state() -> None:
    """A charge log that outlived its database would say that the database was restored."""
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushall()
    shutil.rmtree(settings.CHARGE_LOG_DIR, ignore_errors=True)
    clock_offset._newest_offset = clock_offset.NO_OFFSET
