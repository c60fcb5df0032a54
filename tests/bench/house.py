"""`make bench`: the figures of starting, stopping and of a page, on the real processes."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.browser.house import House, running_house

PAGES = ("/library/", "/studio/", "/members/", "/tokens/")
ROUNDS = 20


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="reelroom-") as folder:
        with timed("first start and stop"), house(Path(folder)):
            pass
        with timed("start again, look at pages, stop"), house(Path(folder)) as running:
            pages(running)


@contextmanager
def house(var: Path) -> Iterator[House]:
    started = time.monotonic()
    running = running_house(var)
    yield next(running)
    print(f"  open for {time.monotonic() - started:.1f} s, the start included")
    running.close()  # type: ignore[attr-defined]


@contextmanager
def timed(what: str) -> Iterator[None]:
    started = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - started:.1f} s")


def pages(running: House) -> None:
    """Median time in milliseconds, and kilobytes of the page itself as they go over the wire."""
    with httpx.Client(base_url=running.portal, follow_redirects=True) as browser:
        sign_in(browser, running)
        for path in PAGES:
            milliseconds = [took(browser, path) for _ in range(ROUNDS)]
            kilobytes = browser.get(path).num_bytes_downloaded / 1000
            print(f"  {path:<10} {statistics.median(milliseconds):5.0f} ms  {kilobytes:5.1f} kB")


def sign_in(browser: httpx.Client, running: House) -> None:
    person = running.person("Priya")
    page = browser.get("/accounts/login/").text
    token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    form = {"login": person.email, "password": person.password, "csrfmiddlewaretoken": token}
    browser.post("/accounts/login/", data=form).raise_for_status()


def took(browser: httpx.Client, path: str) -> float:
    started = time.perf_counter()
    browser.get(path)
    return 1000 * (time.perf_counter() - started)
