"""People who ask for pages and sign in all the time, whatever is out; when each was answered."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from threading import Event
from typing import NamedTuple

import httpx

from tests.browser.portal_process import DemoPerson, LivePortal
from tests.drills.outage import OutageScene

PAGES = ("/", "/library/", "/studio/", "/ledger/", "/costs/", "/tokens/", "/members/")
LOGIN = "/accounts/login/"
PAGE_EVERY, SIGN_IN_EVERY = 0.3, 4.0  # seconds; the site lets one address sign in 30 times a minute


class TimedAnswer(NamedTuple):
    """`status` 0: there was none."""

    at: float
    what: str
    status: int
    seconds: float


@dataclass
class PageCallers:
    site: LivePortal
    over: Event = field(default_factory=Event)
    answers: list[TimedAnswer] = field(default_factory=list)

    def request_pages(self, cookies: Mapping[str, str]) -> None:
        """As somebody who has signed in."""
        with self.client() as client:
            client.cookies.update({**cookies})
            for path in cycle(PAGES):
                if self.over.wait(PAGE_EVERY):
                    return
                self.request_page(client, "page", "GET", path)

    def sign_in(self, person: DemoPerson) -> None:
        """Each time in a new browser without cookies."""
        while not self.over.wait(SIGN_IN_EVERY):
            with self.client() as client:
                form = self.request_page(client, "sign-in page", "GET", LOGIN)
                words = {"login": person.email, "password": person.password}
                if form is not None and form.status_code == 200:
                    words["csrfmiddlewaretoken"] = client.cookies["csrftoken"]
                    self.request_page(client, "sign-in", "POST", LOGIN, words)

    def press_render(self, scene: OutageScene, job: str, form: Mapping[str, str]) -> int:
        """Luca's button that orders a render: the status of its answer, 0 for none."""
        with self.client() as client:
            client.cookies.update(scene.cookies)
            path = f"/studio/{job}/renders/"
            answer = self.request_page(client, "press", "POST", path, form, scene.luca.form_headers)
        return answer.status_code if answer is not None else 0

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.site.portal, timeout=30, trust_env=False)

    def request_page(
        self,
        client: httpx.Client,
        what: str,
        method: str,
        path: str,
        form: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response | None:
        begun, answer = time.monotonic(), None
        try:
            answer = client.request(method, path, data=form, headers=headers)
        except httpx.HTTPError:
            status = 0
        else:
            status = answer.status_code
        self.answers.append(TimedAnswer(begun, what, status, time.monotonic() - begun))
        return answer

    def answers_between(self, begun: float, ended: float) -> Iterator[TimedAnswer]:
        return (it for it in self.answers if begun <= it.at < ended)


@contextmanager
def calling_pages(
    site: LivePortal, scene: OutageScene, person: DemoPerson
) -> Iterator[PageCallers]:
    """Luca asks for pages, and the person signs in."""
    callers = PageCallers(site)
    with ThreadPoolExecutor(2) as pool:
        pages = pool.submit(callers.request_pages, scene.cookies)
        people = [pages, pool.submit(callers.sign_in, person)]
        try:
            yield callers
        finally:
            callers.over.set()
    for one in people:
        one.result()


def count_answers(answers: Iterable[TimedAnswer]) -> dict[str, int]:
    return dict(Counter(f"{it.what} {it.status}" for it in answers))
