"""What is left of the account's previews this minute (spec, Limits)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from proxyapi import rate_limiter
from proxyapi.models import Account
from proxyapi.rate_limiter import RateLimiterUnavailable
from proxyapi.redis_client import connect_redis

BLOCK_STEP_PX = 15  # of the drawn gauge


@dataclass(frozen=True, slots=True)
class PreviewPool:
    """Previews a minute, previews left, and whole seconds until the next one."""

    limit: int
    remaining: int
    next_in_s: int

    @property
    def is_empty(self) -> bool:
        return self.remaining == 0

    @property
    def state(self) -> str:
        return "late" if self.is_empty else "info"

    @property
    def text(self) -> str:
        return f"{self.remaining} of {self.limit} left"

    @property
    def blocks(self) -> tuple[tuple[int, bool], ...]:
        """Where each block of the gauge starts, and whether it is filled."""
        return tuple((BLOCK_STEP_PX * n, n < self.remaining) for n in range(self.limit))


def load_preview_pool(account: Account) -> PreviewPool | None:
    """None without Redis: nothing is known then, and nothing is sent."""
    try:
        level = rate_limiter.peek_preview_pool(connect_redis(), account.bucket)
    except RateLimiterUnavailable:
        return None
    return PreviewPool(level.limit, level.remaining, math.ceil(level.next_in_s))
