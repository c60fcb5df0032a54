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
READY, GONE = 15.0, 10.0  # seconds at most (proof C10, C8)


def main() -> bool:
    """Whether it is ready and gone in time, the first time and again."""
    held: list[bool] = []
    with tempfile.TemporaryDirectory(prefix="reelroom-") as folder:
        print("first start")
        with house(Path(folder), held):
            pass
        print("start again")
        with house(Path(folder), held) as running:
            pages(running)
    return all(held)


@contextmanager
def house(var: Path, held: list[bool]) -> Iterator[House]:
    started = time.monotonic()
    running = running_house(var)
    made = next(running)
    held.append(told("ready after", time.monotonic() - started, READY))
    yield made
    stopped = time.monotonic()
    running.close()  # type: ignore[attr-defined]
    held.append(told("gone after", time.monotonic() - stopped, GONE))


def told(what: str, seconds: float, most: float) -> bool:
    holds = seconds <= most
    verdict = "ok" if holds else "FALLS SHORT"
    print(f"  {what} {seconds:.1f} s; wanted: at most {most:.0f}: {verdict}")
    return holds


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
