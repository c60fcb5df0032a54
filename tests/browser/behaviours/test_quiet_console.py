"""Elements that send a form's choices find what they disable: htmx complains of it in the console,
and that fails a test."""

from __future__ import annotations

from django.urls import reverse

from dashboard.models import Membership
from tests.browser.behaviours.conftest import OpenPage
from tests.storyboards import create_storyboard_token


def test_a_choice_on_a_new_storyboard_is_quiet(priya: Membership, open_page: OpenPage) -> None:
    create_storyboard_token(priya)
    address = reverse("new-storyboard")
    page = open_page(priya, address)
    with page.expect_response(f"**{address}"):
        page.locator("input[name=mode]:not(:checked)").check(force=True)
