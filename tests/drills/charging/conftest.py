"""The real sandbox, a client with short time-outs, and waits that a drill can wait for.

Shortened: `CHARGE_BOOKED_WITHIN` 30 → 0.2 s, `CHARGE_AGAIN_AFTER` 10 → 0.1 s, the time-outs of
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
    settings.CHARGE_BOOKED_WITHIN, settings.CHARGE_AGAIN_AFTER = 0.2, 0.1
    settings.CHARGE_IN_FLIGHT_MAX_S = TIMEOUT
    monkeypatch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)
    with short_timeout_client(f"{sandbox}/v2", monkeypatch) as (client, wire):
        monkeypatch.setattr(calls, "upstream_client", lambda: client)
        yield wire
