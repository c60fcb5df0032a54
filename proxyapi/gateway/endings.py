"""Wait for the end of charges: one query a moment for all that wait in this process."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from uuid import UUID

from proxyapi.gateway.threads import in_thread
from proxyapi.models import Charge
from proxyapi.models.charge import IN_PROGRESS_STATES

INTERVAL_S = 0.1
MAX_IDS = 500  # in one query


class ChargeEndings:
    """The charges whose end is awaited. A charge ends here when it is neither held nor being sent:
    its answer is known, or lost."""

    def __init__(self) -> None:
        self.waiting: dict[UUID, list[asyncio.Event]] = {}
        self.task: asyncio.Task[None] | None = None

    async def wait(self, charge_id: UUID, seconds: float) -> bool:
        """Wait up to `seconds`; return whether it has ended."""
        event = asyncio.Event()
        self.waiting.setdefault(charge_id, []).append(event)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self.watch())
        try:
            await asyncio.wait_for(event.wait(), seconds)
        except TimeoutError:
            return False
        finally:
            self.stop_waiting(charge_id, event)
        return True

    def stop_waiting(self, charge_id: UUID, event: asyncio.Event) -> None:
        events = self.waiting.get(charge_id, [])
        if event in events:
            events.remove(event)
        if not events:
            self.waiting.pop(charge_id, None)

    async def watch(self) -> None:
        while self.waiting:
            for charge_id in await in_thread(find_ended, list(self.waiting)):
                for event in self.waiting.get(charge_id, []):
                    event.set()
            await asyncio.sleep(INTERVAL_S)


def find_ended(charge_ids: list[UUID]) -> list[UUID]:
    return [
        charge_id
        for start in range(0, len(charge_ids), MAX_IDS)
        for charge_id in ended_among(charge_ids[start : start + MAX_IDS])
    ]


def ended_among(charge_ids: list[UUID]) -> Iterable[UUID]:
    rows = Charge.objects.filter(pk__in=charge_ids).exclude(state__in=IN_PROGRESS_STATES)
    return rows.values_list("pk", flat=True)
