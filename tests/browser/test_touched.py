"""What the stream says was touched becomes an event of the page, one a topic and second."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.desk import Desk
from tests.browser.held import held
from tests.browser.stage import Stage, until

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


def heard(page: Page) -> dict[str, list[int]]:
    times: dict[str, list[int]] = page.evaluate("window.heard")
    return times


def test_a_page_hears_what_a_colleague_touched(desk_of: Callable[..., Desk], stage: Stage) -> None:
    luca, vera = desk_of("Luca"), desk_of("Vera")
    luca.join(stage.account())
    vera.page.goto("/library/")
    vera.page.wait_for_selector("#live[data-state=open]", state="attached")
    vera.page.evaluate(LISTEN, ["charge", "job"])
    luca.make("Heard next door")
    until(lambda: all(heard(vera.page).values()))


@pytest.mark.parametrize(
    ("path", "chip", "choice"),
    [("/ledger/", "direction", "in"), ("/ledger/charts/", "period", "90d")],
)
def test_a_page_hears_on_after_a_choice_and_the_way_back(
    desk_of: Callable[..., Desk], path: str, chip: str, choice: str
) -> None:
    page = desk_of("Vera").page
    page.goto(path)
    assert hears(page, "first")
    page.locator(f"#chip-{chip}").select_option(choice)
    page.wait_for_url(f"**{path}?{chip}={choice}*")
    assert hears(page, "second")
    page.go_back()
    page.wait_for_url(f"**{path}")
    expect(page.locator(f"#chip-{chip}")).to_have_value("")
    assert hears(page, "third")


def hears(page: Page, topic: str) -> bool:
    """Whether what the stream tells reaches the page as it is now."""
    page.wait_for_selector("#live[data-state=open]", state="attached")
    page.evaluate(LISTEN, [topic])
    told: list[int] = page.evaluate(TOUCH, [topic])
    return told == [1] and page.evaluate(ATTACHED) is True


def test_a_topic_is_told_at_once_and_then_once_a_second(desk_of: Callable[..., Desk]) -> None:
    """Topics of its own, for the house touches all others."""
    page = desk_of("Vera").page
    page.goto("/library/")
    page.evaluate(LISTEN, ["one", "other"])
    assert page.evaluate(TOUCH, ["one other", "one", "one", "one"]) == [1, 1]
    until(lambda: len(heard(page)["one"]) > 1)
    first, second = heard(page)["one"]
    assert second - first >= 950
    assert len(heard(page)["other"]) == 1


def test_what_is_touched_while_a_part_asks_is_told_again_when_it_has_its_answer(
    desk_of: Callable[..., Desk],
) -> None:
    """Its answer may be older than that, and the part that replaces it had not heard it."""
    page = desk_of("Vera").page
    page.goto("/library/")
    page.evaluate(PART)
    page.evaluate(LISTEN, ["own"])
    with held(page, re.compile(r"/service/\?own")):
        assert page.evaluate(TOUCH, ["own", "own"]) == [1]
        until(lambda: len(heard(page)["own"]) == 2)
    until(lambda: len(heard(page)["own"]) > 2)


def test_when_something_was_missed_every_topic_is_told(desk_of: Callable[..., Desk]) -> None:
    page = desk_of("Vera").page
    page.goto("/library/")
    topics = ["job", "charge", "account", "token", "ledger", "top_up", "budget", "alert"]
    page.evaluate(LISTEN, topics)
    page.evaluate("document.body.dispatchEvent(new CustomEvent('poll'))")
    # Of what the house touched within this second the page tells again at its end.
    until(lambda: all(heard(page).values()))
