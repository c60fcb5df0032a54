"""All windows of a browser read one event stream: the browser allows six connections to a host."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.behaviours.test_signed_in_again import sign_in_again
from tests.browser.behaviours.test_stream_events import LISTEN, heard_events
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until
from tests.dashboard.library import conftest as library

account, token, make_video_job = library.account, library.token, library.make_video_job

PATH = "/library/"
TOPICS = ["own", "other"]  # no topics of the portal, which each refetch announces
COUNT_REFETCHES = """() => {
    window.refetches = 0;
    document.body.addEventListener("poll", () => refetches++);
}"""
SHOW = """isShown => {
    Object.defineProperty(document, "hidden", { value: !isShown, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
}"""


def open_window(page: Page, path: str = PATH) -> Page:
    """Another window of the same browser, which receives the stream."""
    window = page.context.new_page()
    window.goto(path)
    return expect_live(window)


def expect_live(window: Page) -> Page:
    expect(window.locator("#live")).to_have_attribute("data-state", "open")
    window.evaluate(COUNT_REFETCHES)
    window.evaluate(LISTEN, TOPICS)
    return window


def wait_until_heard(windows: list[Page], topic: str) -> None:
    wait_until(lambda: all(heard_events(window)[topic] for window in windows))


def test_windows_read_one_stream_and_the_next_one_reads_it_when_that_one_is_left(
    luca: Membership, open_page: OpenPage, page_server: PageServer
) -> None:
    first = expect_live(open_page(luca, PATH))
    others = [open_window(first) for _ in range(3)]
    page_server.push("touched", "own")
    wait_until_heard([first, *others], "own")
    assert len(page_server.streams) == 1
    assert [window.evaluate("refetches") for window in others] == [0] * 3
    page_server.hello = "stale"  # something changed meanwhile
    first.close()
    wait_until(lambda: all(window.evaluate("refetches") for window in others))
    second, *others = others
    second.evaluate(SHOW, False)
    wait_until(lambda: len(page_server.streams) == 3)
    page_server.push("touched", "other")
    wait_until_heard(others, "other")
    assert heard_events(second)["other"] == []
    second.evaluate(SHOW, True)
    wait_until(lambda: second.evaluate("refetches") == 2)  # it missed that
    assert len(page_server.streams) == 3


def test_windows_of_another_team_read_a_stream_of_their_own(
    luca: Membership, otto: Membership, open_page: OpenPage, page_server: PageServer
) -> None:
    first = expect_live(open_page(luca, PATH))
    sign_in_again(first, otto, page_server)
    other = open_window(first)
    of_luca, of_otto = page_server.streams
    of_luca.put("event: touched\ndata: own\n\n")
    of_otto.put("event: touched\ndata: other\n\n")
    wait_until_heard([first], "own")
    wait_until_heard([other], "other")
    assert heard_events(first)["other"] == heard_events(other)["own"] == []
    users = [request["user"] for request in page_server.stream_requests]
    assert users == [[str(luca.user_id)], [str(otto.user_id)]]


def test_the_stream_names_each_video_that_a_window_shows(
    priya: Membership,
    make_video_job: library.MakeVideoJob,
    open_page: OpenPage,
    page_server: PageServer,
) -> None:
    """A stream that names others replaces the first without a gap, so that nothing is fetched."""
    first = expect_live(open_page(priya, PATH))
    page_server.hello = "stale"  # as the server says if anything changed since the first began
    jobs = sorted(str(make_video_job("running").pk) for _ in range(2))
    windows = [open_window(first, f"/videos/{job}/") for job in jobs]
    wait_until(lambda: page_server.stream_requests[-1].get("videos") == [",".join(jobs)])
    windows[0].close()
    wait_until(lambda: page_server.stream_requests[-1].get("videos") == [jobs[1]])
    page_server.push("touched", "own")
    wait_until_heard([first, windows[1]], "own")
    assert first.evaluate("refetches") == windows[1].evaluate("refetches") == 0


def test_without_locks_each_window_reads_its_own_stream(
    luca: Membership, open_page: OpenPage, page_server: PageServer
) -> None:
    """At an address of the local network without TLS, browsers have none."""
    first = open_page(luca, PATH)
    first.context.add_init_script("delete Navigator.prototype.locks")
    first.reload()
    other = open_window(expect_live(first))
    before = len(page_server.streams)
    page_server.push("touched", "own")
    wait_until_heard([first, other], "own")
    assert before == 3
    assert [len(heard_events(window)["own"]) for window in (first, other)] == [1, 1]
