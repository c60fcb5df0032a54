"""What the stream says becomes events of the page, all topics of a second together."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from dashboard.models import Membership
from proxyapi.models import Account
from tests.browser.behaviours.conftest import OpenPage
from tests.browser.held_responses import hold_response
from tests.browser.page_server import PageServer
from tests.browser.sandbox_control import wait_until

# Keeps when each topic was announced to the body, in milliseconds since 1970.
LISTEN = """topics => {
    window.heard = Object.fromEntries(topics.map(topic => [topic, []]));
    for (const topic of topics)
        document.body.addEventListener(`reelroom:${topic}`, () => heard[topic].push(Date.now()));
}"""
# Within one moment; answers how often each topic was told.
TOUCH = """touched => {
    for (const said of touched)
        document.getElementById("live").dispatchEvent(
            new CustomEvent("live:touched", { bubbles: true, detail: said })
        );
    return Object.values(heard).map((times) => times.length);
}"""
# A part that asks for itself and is replaced by the answer.
PART = """() => {
    const part = '<i id="own" hx-get="/service/?own" hx-trigger="reelroom:own from:body"></i>';
    document.body.insertAdjacentHTML("beforeend", part);
    htmx.process(document.getElementById("own"));
}"""
# Whether the node that hears the stream is the one that was there when the page was loaded.
ATTACHED = "document.contains(window.live ??= document.getElementById('live'))"


def heard_events(page: Page) -> dict[str, list[int]]:
    times: dict[str, list[int]] = page.evaluate("window.heard")
    return times


@pytest.fixture
def library(vera: Membership, open_page: OpenPage) -> Page:
    return open_page(vera, "/library/")


def test_a_page_hears_what_was_touched_and_what_is_new(
    library: Page, page_server: PageServer
) -> None:
    library.evaluate(LISTEN, ["charge", "job"])
    page_server.push("touched", "charge job")
    wait_until(lambda: all(heard_events(library).values()))
    page_server.push("news", '<section id="library"><p>Fresh</p></section>')
    expect(library.locator("#library")).to_have_text("Fresh")


@pytest.mark.parametrize(
    ("path", "chip", "choice"),
    [("/ledger/", "direction", "in"), ("/ledger/charts/", "period", "90d")],
)
def test_a_page_hears_on_after_a_choice_and_the_way_back(
    vera: Membership, account: Account, open_page: OpenPage, path: str, chip: str, choice: str
) -> None:
    page = open_page(vera, path)
    assert receives_stream_events(page, "first")
    page.locator(f"#chip-{chip}").select_option(choice)
    page.wait_for_url(f"**{path}?{chip}={choice}*")
    assert receives_stream_events(page, "second")
    page.go_back()
    page.wait_for_url(f"**{path}")
    expect(page.locator(f"#chip-{chip}")).to_have_value("")
    assert receives_stream_events(page, "third")


def receives_stream_events(page: Page, topic: str) -> bool:
    """Whether events of the stream reach the page as it is now."""
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(LISTEN, [topic])
    page.evaluate(TOUCH, [topic])
    wait_until(lambda: heard_events(page)[topic])
    return page.evaluate(ATTACHED) is True


def test_topics_are_dispatched_at_once_and_then_together_once_a_second(library: Page) -> None:
    """Topics of its own, because the portal publishes all others."""
    page = library
    page.evaluate(LISTEN, ["one", "other", "third"])
    assert page.evaluate(TOUCH, ["one", "one other", "one", "third one"]) == [1, 0, 0]
    wait_until(lambda: all(heard_events(page).values()))
    events = heard_events(page)
    first, second = events["one"]
    assert second - first >= 950
    assert max(*events["other"], *events["third"], second) - second < 500


def test_a_topic_that_changes_during_a_request_is_dispatched_again_after_its_answer(
    library: Page,
) -> None:
    """Its answer may be older than that, and the part that replaces it had not heard it."""
    page = library
    page.evaluate(PART)
    page.evaluate(LISTEN, ["own"])
    with hold_response(page, re.compile(r"/service/\?own")):
        assert page.evaluate(TOUCH, ["own", "own"]) == [1]
        wait_until(lambda: len(heard_events(page)["own"]) == 2)
    wait_until(lambda: len(heard_events(page)["own"]) > 2)


def test_when_something_was_missed_every_topic_is_dispatched(library: Page) -> None:
    page = library
    topics = ["job", "charge", "account", "token", "ledger", "top_up", "budget", "alert"]
    page.evaluate(LISTEN, topics)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('poll'))")
    # What the portal published within this second is dispatched again at its end.
    wait_until(lambda: all(heard_events(page).values()))


# A video in this state is pushed; answers how often the list is to be fetched again by then.
PUSH_ELSEWHERE = """(state) => {
    const detail = `<article id="job-elsewhere" data-card data-state="${state}"></article>`;
    document.dispatchEvent(new CustomEvent("live:news", { detail }));
    return moves;
}"""


def test_a_list_refetches_once_per_state_for_a_video_it_does_not_show(library: Page) -> None:
    library.evaluate("window.moves = 0; document.addEventListener('live:moved', () => moves++)")
    states = ("running", "running", "running", "completed", "completed")
    with library.expect_response("**/library/"):
        assert [library.evaluate(PUSH_ELSEWHERE, state) for state in states] == [1, 1, 1, 2, 2]
