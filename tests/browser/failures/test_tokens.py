"""Tokens that cannot be one, and one that is revoked while a video renders."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl, wait_until


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("sbx_" + "z" * 32, "The service does not recognize this token."),
        ("Bearer sbx_abcdefgh", "without the word Bearer"),
        ("sbx_" + "z" * 10_000, "This is too long for a token: the maximum is 512 characters."),
    ],
)
def test_what_cannot_be_a_token_is_refused_in_a_sentence(
    open_member_page: Callable[..., MemberPage], text: str, sentence: str
) -> None:
    luca = open_member_page("Luca")
    luca.add_token(text)
    expect(luca.page.locator(".field__error")).to_contain_text(sentence)
    assert text not in luca.page.content()


def test_a_token_of_two_lines_is_refused(open_member_page: Callable[..., MemberPage]) -> None:
    """A browser makes one line of what is pasted, another program does not."""
    luca = open_member_page("Luca")
    luca.page.goto("/tokens/")
    answer = luca.post_form("/tokens/", token="sbx_abcdefgh\nsbx_ijklmnop")
    assert answer.status == 422
    assert "This is more than one line. A token is a single line." in answer.text()


def test_blanks_around_a_token_do_no_harm(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.add_token(f"  {guest.token}  ")
    expect(luca.page.get_by_text(f"…{guest.token[-4:]}").first).to_be_visible()


def test_a_video_whose_token_was_revoked_goes_on_with_the_next_one(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    job = luca.make_video("The token goes first")
    wait_until(lambda: sandbox_control.count_requests(guest, "POST", "/render"))
    sandbox_control.revoke_token(guest)
    expect(luca.video_status).to_contain_text(
        "Luca’s token stopped working at", timeout=RENDERED_TIMEOUT_MS
    )
    expect(luca.video_status).to_contain_text(
        "Reelroom can check it again when Luca adds a new token."
    )
    other = open_member_page("Luca")
    other.page.goto("/studio/")
    other.use_token_of(sandbox_control.another_token(guest))
    expect(luca.film_player, "without a reload").to_be_attached(timeout=RENDERED_TIMEOUT_MS)
    assert sandbox_control.spent_credits(guest) == luca.shown_cost(job)
