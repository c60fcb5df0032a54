"""People who keep pages open: each holds a stream and goes from page to page."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import httpx

PAGES = (
    *("/", "/library/", "/studio/", "/ledger/", "/budgets/", "/costs/", "/forecast/"),
    *("/reconciliation/", "/top-up/", "/alerts/", "/members/", "/tokens/"),
)
PAGE_INTERVAL_S = 8.0  # seconds, about
TIMEOUT = httpx.Timeout(60, pool=None)
STREAM_TIMEOUT = httpx.Timeout(60, read=40)  # a stream says something each 15 s


class PageVisitors(threading.Thread):
    """A context of `count` people; `sessions` are the cookies of those who signed in, taken in
    turn. Afterwards `answers` holds the statuses of their pages and how their streams ended."""

    def __init__(
        self, portal: str, sessions: Sequence[Mapping[str, str]], count: int, seed: int
    ) -> None:
        super().__init__(daemon=True)
        self.answers: Counter[str] = Counter()
        self._portal, self._sessions, self._count = portal, sessions, count
        self._chance = Random(seed)  # noqa: S311
        self._ended = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def __enter__(self) -> PageVisitors:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._ended.set)
        self.join()

    def run(self) -> None:
        asyncio.run(self._all())

    async def _all(self) -> None:
        self._loop = asyncio.get_running_loop()
        people = [asyncio.create_task(self._be(number)) for number in range(self._count)]
        await self._ended.wait()
        for one in people:
            one.cancel()
        await asyncio.gather(*people, return_exceptions=True)

    async def _be(self, number: int) -> None:
        cookies = dict(self._sessions[number % len(self._sessions)])
        async with httpx.AsyncClient(
            base_url=self._portal, cookies=cookies, timeout=TIMEOUT, trust_env=False
        ) as client:
            await asyncio.gather(self._look(client), self._listen(client))

    async def _look(self, client: httpx.AsyncClient) -> None:
        while True:
            await asyncio.sleep(self._chance.uniform(0, 2 * PAGE_INTERVAL_S))
            page = await client.get(self._chance.choice(PAGES))
            self.answers[f"page {page.status_code}"] += 1

    async def _listen(self, client: httpx.AsyncClient) -> None:
        while True:
            async with client.stream("GET", "/live/", timeout=STREAM_TIMEOUT) as stream:
                self.answers[f"stream {stream.status_code}"] += 1
                async for _ in stream.aiter_raw():
                    pass
            await asyncio.sleep(1)
