"""The log of requests: what was asked and how it ended, never a body, a query or a key."""

from __future__ import annotations

import asyncio
import logging
import time
from datetime import timedelta

from django.conf import settings
from django.db import Error as DatabaseTrouble
from django.utils import timezone

from proxyapi.gateway.answers import error_code
from proxyapi.gateway.call import Call
from proxyapi.gateway.threads import in_thread
from proxyapi.models import ApiEvent, GatewayRequest
from proxyapi.pruning import delete_in_batches
from proxyapi.upstream.reply import Answer

log = logging.getLogger(__name__)
MAX_PATH_CHARS, MAX_AGENT_CHARS = 300, 200


class RequestLog:
    """Writes rows in one transaction that come while others are written: alone each would be one
    of its own."""

    def __init__(self) -> None:
        self.waiting: list[GatewayRequest] = []
        self.writing = asyncio.Lock()

    async def write(self, row: GatewayRequest) -> None:
        """Return when the row is written. A script gets its answer although the log fails."""
        self.waiting.append(row)
        async with self.writing:
            if rows := self.waiting:
                self.waiting = []
                await in_thread(write_rows, rows)


def write_rows(rows: list[GatewayRequest]) -> None:
    """Write the rows, each alone if together they cannot be."""
    try:
        GatewayRequest.objects.bulk_create(rows)
    except DatabaseTrouble:
        if len(rows) > 1:
            for row in rows:
                write_rows([row])
        else:
            log.exception("a request of the gateway was not logged")


def build_row(call: Call, operation: str, path: str, agent: str, answer: Answer) -> GatewayRequest:
    """The row of an answered request, from the program `agent`."""
    return GatewayRequest(
        id=call.id,
        tenant_id=call.key.tenant_id,
        key=call.key,
        operation=operation,
        path=path[:MAX_PATH_CHARS],
        status=answer.status,
        code=error_code(answer),
        total_ms=milliseconds(time.monotonic() - call.started),
        waited_ms=milliseconds(call.waited_s),
        service_ms=milliseconds(call.service_s),
        service_requests=call.service_requests,
        is_replayed=call.is_replayed,
        charge=call.charge,
        job=call.job,
        client_ip=call.client_ip or None,
        user_agent="".join(char for char in agent if char.isprintable())[:MAX_AGENT_CHARS],
    )


def milliseconds(seconds: float) -> int:
    return round(seconds * 1000)


def prune_request_log() -> None:
    """Delete rows older than the setting `GATEWAY_LOG_DAYS`."""
    oldest = timezone.now() - timedelta(days=settings.GATEWAY_LOG_DAYS)
    delete_in_batches(GatewayRequest.objects.filter(received_at__lt=oldest).order_by("received_at"))


def prune_events() -> None:
    """Delete events older than the setting `GATEWAY_EVENT_DAYS`, with their deliveries."""
    oldest = timezone.now() - timedelta(days=settings.GATEWAY_EVENT_DAYS)
    delete_in_batches(ApiEvent.objects.filter(happened_at__lt=oldest).order_by("happened_at"))
