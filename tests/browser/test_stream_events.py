"""What the stream says was touched becomes an event of the page, one a topic and second."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.held_responses import hold_response
from tests.browser.member_page import MemberPage
from tests.browser.sandbox_control import SandboxControl, wait_until

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


def test_a_page_hears_what_a_colleague_touched(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, vera = open_member_page("Luca"), open_member_page("Vera")
    luca.use_token_of(sandbox_control.create_account())
    vera.page.goto("/library/")
    vera.page.wait_for_selector("#live[data-state=open]", state="attached")
    vera.page.evaluate(LISTEN, ["charge", "job"])
    luca.make_video("Heard next door")
    wait_until(lambda: all(heard_events(vera.page).values()))


@pytest.mark.parametrize(
    ("path", "chip", "choice"),
    [("/ledger/", "direction", "in"), ("/ledger/charts/", "period", "90d")],
)
def test_a_page_hears_on_after_a_choice_and_the_way_back(
    open_member_page: Callable[..., MemberPage], path: str, chip: str, choice: str
) -> None:
    page = open_member_page("Vera").page
    page.goto(path)
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
    told: list[int] = page.evaluate(TOUCH, [topic])
    return told == [1] and page.evaluate(ATTACHED) is True


def test_a_topic_is_dispatched_at_once_and_then_once_a_second(
    open_member_page: Callable[..., MemberPage],
) -> None:
    """Topics of its own, because the portal publishes all others."""
    page = open_member_page("Vera").page
    page.goto("/library/")
    page.evaluate(LISTEN, ["one", "other"])
    assert page.evaluate(TOUCH, ["one other", "one", "one", "one"]) == [1, 1]
    wait_until(lambda: len(heard_events(page)["one"]) > 1)
    first, second = heard_events(page)["one"]
    assert second - first >= 950
    assert len(heard_events(page)["other"]) == 1


def test_a_topic_that_changes_during_a_request_is_dispatched_again_after_its_answer(
    open_member_page: Callable[..., MemberPage],
) -> None:
    """Its answer may be older than that, and the part that replaces it had not heard it."""
    page = open_member_page("Vera").page
    page.goto("/library/")
    page.evaluate(PART)
    page.evaluate(LISTEN, ["own"])
    with hold_response(page, re.compile(r"/service/\?own")):
        assert page.evaluate(TOUCH, ["own", "own"]) == [1]
        wait_until(lambda: len(heard_events(page)["own"]) == 2)
    wait_until(lambda: len(heard_events(page)["own"]) > 2)


def test_when_something_was_missed_every_topic_is_dispatched(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Vera").page
    page.goto("/library/")
    topics = ["job", "charge", "account", "token", "ledger", "top_up", "budget", "alert"]
    page.evaluate(LISTEN, topics)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('poll'))")
    # What the portal published within this second is dispatched again at its end.
    wait_until(lambda: all(heard_events(page).values()))
