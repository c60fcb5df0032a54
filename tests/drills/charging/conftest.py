"""The real sandbox, a client with short time-outs, and waits that a drill can wait for.

Shortened: `CHARGE_BOOKING_GRACE_S` 30 → 0.2 s, `CHARGE_RETRY_INTERVAL_S` 10 → 0.1 s, timeouts of
the charging calls and their longest times 60 to 240 → 0.8 s. Lifted: five previews a minute.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from proxyapi import calls, rate_limiter
from tests.proxyapi.money.conftest import sandbox
from tests.proxyapi.money.faulty_transport import TIMEOUT, FaultyTransport, short_timeout_client

__all__ = ["sandbox"]


@pytest.fixture
def control(sandbox: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"{sandbox}/_sandbox/", timeout=60) as client:
        yield client


@pytest.fixture
def faulty_transport(
    sandbox: str,
    transactional_db: None,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[FaultyTransport]:
    settings.VIDEO_API_BASE_URL = f"{sandbox}/v2"
    settings.CHARGE_BOOKING_GRACE_S, settings.CHARGE_RETRY_INTERVAL_S = 0.2, 0.1
    settings.CHARGE_IN_FLIGHT_MAX_S = TIMEOUT
    monkeypatch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)
    with short_timeout_client(f"{sandbox}/v2", monkeypatch) as (client, wire):
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        yield wire
