"""Signing in and out of the real house."""

from __future__ import annotations

import re

from playwright.sync_api import expect


def test_a_producer_signs_in_and_sees_the_room_of_the_team(page_of):
    page = page_of("Priya")

    expect(page.get_by_role("heading", name="Overview", exact=True)).to_be_visible()


def test_a_wrong_password_stays_at_the_door_and_says_so(chromium, house):
    with chromium.new_context(base_url=house.portal) as context:
        page = context.new_page()
        page.goto("/accounts/login/")
        page.locator("input[name=login]").fill(house.person("Priya").email)
        page.locator("input[name=password]").fill("not her password")
        page.locator("input[name=password]").press("Enter")

        expect(page).to_have_url(re.compile("/accounts/login/"))
        expect(page.locator("form").first).to_be_visible()
