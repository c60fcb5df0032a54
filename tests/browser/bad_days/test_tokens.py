"""Tokens that cannot be one, and one that is revoked while a video renders."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.desk import RENDERED, Desk
from tests.browser.stage import Stage, until


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sbx_" + "z" * 32, "The service does not know this token."),
        ("Bearer sbx_abcdefgh", "without the word Bearer"),
        ("sbx_" + "z" * 10_000, "This is longer than a token can be: 512 characters is the most."),
    ],
)
def test_what_cannot_be_a_token_is_refused_in_a_sentence(
    desk_of: Callable[..., Desk], text: str, sentence: str
) -> None:
    luca = desk_of("Luca")
    luca.add_token(text)
    expect(luca.page.locator(".field__error")).to_contain_text(sentence)
    assert text not in luca.page.content()


def test_a_token_of_two_lines_is_refused(desk_of: Callable[..., Desk]) -> None:
    """A browser makes one line of what is pasted, another program does not."""
    luca = desk_of("Luca")
    luca.page.goto("/tokens/")
    answer = luca.send("/tokens/", token="sbx_abcdefgh\nsbx_ijklmnop")
    assert answer.status == 422
    assert "This is more than one line. A token is a single line." in answer.text()


def test_blanks_around_a_token_do_no_harm(desk_of: Callable[..., Desk], stage: Stage) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.add_token(f"  {guest.token}  ")
    expect(luca.page.get_by_text(f"…{guest.token[-4:]}").first).to_be_visible()


def test_a_video_whose_token_was_revoked_goes_on_with_the_next_one(
    desk_of: Callable[..., Desk], stage: Stage
) -> None:
    luca, guest = desk_of("Luca"), stage.account()
    luca.join(guest)
    job = luca.make("The token goes first")
    until(lambda: stage.sent(guest, "POST", "/render"))
    stage.revoke(guest)
    expect(luca.status).to_contain_text("Luca’s token stopped working at", timeout=RENDERED)
    expect(luca.status).to_contain_text("Reelroom sees it again when Luca adds a new token.")
    other = desk_of("Luca")
    other.page.goto("/studio/")
    other.join(stage.another_token(guest))
    expect(luca.film, "without a reload").to_be_attached(timeout=RENDERED)
    assert stage.spent(guest) == luca.cost(job)
