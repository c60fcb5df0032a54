"""A script that is empty, and one that is longer than a video can be."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import expect

from tests.browser.desk import Desk
from tests.browser.stage import Stage

LONG = " ".join(["word"] * 3_017)
TOO_LONG = "3,017 words are too many. At most 3,000 fit into 20 minutes"


def test_an_empty_script_says_what_is_missing(desk_of: Callable[..., Desk], stage: Stage) -> None:
    luca = desk_of("Luca")
    luca.join(stage.account())
    luca.page.goto("/studio/")
    luca.begin("Nothing to say", script="   ")
    error = luca.page.locator(".field__error")
    expect(error).to_contain_text("Write or paste a script first")
    expect(luca.page.get_by_label("Title")).to_have_value("Nothing to say")
    luca.begin("Something to say", script="Ice moves.")
    luca.page.get_by_role("button", name="Next: Script").click()
    luca.page.locator("textarea[name=script]").fill("")
    luca.page.get_by_role("button", name="Next: Voice").click()
    expect(error).to_contain_text("Write or paste a script first")


def test_a_script_that_is_too_long_is_kept_and_refused(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca = desk_of("Luca")
    luca.join(stage.account())
    luca.page.goto("/studio/")
    luca.begin("Too much to say", script=LONG)
    expect(luca.page.locator(".field__error")).to_contain_text(TOO_LONG)
    expect(luca.page.locator("textarea[name=script]")).to_have_value(LONG)
