"""Fixtures of the browser tests: the portal, the browser, a page for a person who has signed in."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser import chromium as finder
from tests.browser.canaries import PAGES, scan_browser_context, watch_portal
from tests.browser.console_messages import ConsoleMessages, expected_messages
from tests.browser.member_page import DEFAULT_TIMEOUT_MS, MemberPage, sign_in
from tests.browser.operation_journal import SEEN_FILE_VARIABLE, OperationJournal
from tests.browser.portal_process import LivePortal, portal_context
from tests.browser.ready_pages import new_page
from tests.browser.sandbox_control import SandboxControl
from tests.browser.screenshots import ScreenshotAlbum
from tests.checks.reached_operations import REACHED_OPERATIONS
from tests.leaks import Canaries
from tests.migrated_database import copy_migrated_database

HERE = Path(__file__).parent
REQUESTS_PER_MINUTE = 600  # of each token; the portal learns it from the headers of answers
NO_BROWSER = "There is no Chromium on the PATH, and none could be installed."
# The first needs a portal that nobody has used. The others take a minute or two each: at the end,
# one would leave the other processes with nothing to do.
FIRST_FILES = ["test_first_video.py", "test_page_audit.py", "test_past.py", "test_first_run.py"]
_skipped = False

expect.set_options(timeout=DEFAULT_TIMEOUT_MS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the test of the first video first, then the longest files."""
    items.sort(key=lambda item: [*FIRST_FILES, item.path.name].index(item.path.name))
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _skipped:
        terminalreporter.write_line(f"NO BROWSER TEST RAN. {NO_BROWSER}", red=True, bold=True)


@pytest.fixture(scope="session")
def live_portal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LivePortal]:
    """The processes of `make run`, ready; the same ones for all browser tests. Its sandbox answers
    in the dialect that `REELROOM_DIALECT` names, and lets a journey of many requests go on: nobody
    waits in a browser for a token's next minute."""
    var = tmp_path_factory.mktemp("portal")
    copy_migrated_database(var / "reelroom.sqlite3")
    with portal_context(var) as portal:
        settings = {
            "dialect": os.environ.get("REELROOM_DIALECT", "spec"),
            "rate_limit": REQUESTS_PER_MINUTE,
        }
        address = f"{portal.sandbox}/_sandbox/settings"
        httpx.put(address, json=settings, timeout=60, trust_env=False).raise_for_status()
        yield portal


@pytest.fixture(scope="session")
def chromium(in_ci: bool) -> Iterator[Browser]:
    """Without a browser CI fails; elsewhere the tests are skipped with a red line."""
    global _skipped
    with sync_playwright() as playwright:
        path = finder.find_chromium(playwright.chromium.executable_path)
        if path is None and in_ci:
            pytest.fail(NO_BROWSER)
        if path is None:
            _skipped = True
            pytest.skip(NO_BROWSER)
        # Its event loop runs in this thread from now on, where Django would refuse the database.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        browser = playwright.chromium.launch(executable_path=path, args=finder.CHROMIUM_OPTIONS)
        yield browser
        browser.close()


@pytest.fixture
def console_messages(request: pytest.FixtureRequest) -> Iterator[ConsoleMessages]:
    """Fails the test for each message of a watched context that its marker does not expect."""
    messages = ConsoleMessages(expected_messages(request.node))
    yield messages
    messages.check()


@pytest.fixture(scope="session")
def canaries(live_portal: LivePortal) -> Iterator[Canaries]:
    """The tokens of the portal, and everything it sent; at the end no token was in it."""
    with watch_portal(live_portal) as canaries:
        yield canaries


@pytest.fixture
def open_fresh_page(
    chromium: Browser,
    live_portal: LivePortal,
    canaries: Canaries,
    console_messages: ConsoleMessages,
    tmp_path: Path,
) -> Iterator[Callable[..., Page]]:
    """Opens a browser context of its own in which that person has signed in through the form.

    With a `storage_state` they have signed in before, and nothing is open yet. Nothing turns in it:
    without a graphics card each turning arc draws its page again, sixty times a second. A
    message in a console fails the test, as in tests/browser/behaviours.
    """
    contexts: list[tuple[BrowserContext, Path]] = []

    def open_page(first_name: str, **options: object) -> Page:
        har = tmp_path / f"visit-{len(contexts)}.har"
        context = chromium.new_context(
            base_url=live_portal.portal,
            record_har_path=har,
            record_har_content="embed",
            record_har_url_filter=re.compile(PAGES),
            **{"reduced_motion": "reduce", **options},  # type: ignore[arg-type]
        )
        contexts.append((context, har))
        console_messages.watch(context)
        page = new_page(context)
        if "storage_state" in options:
            return page
        sign_in(page, live_portal.person(first_name))
        return page

    yield open_page
    for context, har in contexts:
        scan_browser_context(canaries, context, har)


@pytest.fixture(scope="session")
def browser_states() -> dict[str, Any]:
    """What the browser keeps of each person who has signed in once."""
    return {}


@pytest.fixture
def open_member_page(
    open_fresh_page: Callable[..., Page], browser_states: dict[str, Any]
) -> Callable[..., MemberPage]:
    """As `page_of`, but through the form only once for each person."""

    def sit_down(first_name: str, **options: object) -> MemberPage:
        if first_name not in browser_states:
            page = open_fresh_page(first_name)
            browser_states[first_name] = page.context.storage_state()
        return MemberPage(
            open_fresh_page(first_name, storage_state=browser_states[first_name], **options)
        )

    return sit_down


@pytest.fixture
def sandbox_control(live_portal: LivePortal, canaries: Canaries) -> Iterator[SandboxControl]:
    with SandboxControl(live_portal.sandbox, canaries) as stage:
        yield stage


@pytest.fixture(scope="session")
def operation_journal(live_portal: LivePortal) -> OperationJournal:
    return OperationJournal(live_portal.sandbox)


@pytest.fixture(autouse=True)
def check_reached_operations(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that docs/reference/reached-operations.md names sends the operations listed there."""
    name = f"{request.path.relative_to(HERE).as_posix()}::{request.node.originalname}"
    expected = {operation for operation, by in REACHED_OPERATIONS.items() if by.test == name}
    uses_portal = "live_portal" in request.fixturenames
    if not uses_portal or not (expected or SEEN_FILE_VARIABLE in os.environ):
        yield
        return
    journal: OperationJournal = request.getfixturevalue("operation_journal")
    journal.read_new_operations()
    yield
    sent = journal.read_new_operations()
    assert expected <= sent, f"not sent: {', '.join(sorted(expected - sent))}"


@pytest.fixture(scope="session")
def album() -> ScreenshotAlbum:
    return ScreenshotAlbum.from_environment()
