"""What htmx or the content policy would complain of in the console, which fails a test; and where a
page goes on that is a dialog alone."""

from __future__ import annotations

from django.urls import reverse
from playwright.sync_api import expect

from dashboard.models import Membership
from proxyapi.models import JobKind
from tests.browser.behaviours.conftest import OpenPage
from tests.factories import JobFactory, TokenFactory
from tests.storyboards import create_storyboard_token


def test_a_choice_on_a_new_storyboard_is_quiet(priya: Membership, open_page: OpenPage) -> None:
    create_storyboard_token(priya)
    address = reverse("new-storyboard")
    page = open_page(priya, address)
    with page.expect_response(f"**{address}"):
        page.locator("input[name=mode]:not(:checked)").check(force=True)


def test_a_style_that_something_else_set_on_a_part_is_not_given_to_the_next_one(
    thea: Membership, open_page: OpenPage
) -> None:
    """As an extension or an autofill of the browser does; the policy refuses inline styles."""
    page = open_page(thea, "/budgets/")
    page.evaluate("document.querySelector('#budgets').style.setProperty('caret-color', 'red')")
    with page.expect_response("**/budgets/"):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('reelroom:budget'))")
    expect(page.locator("#budgets[style]")).to_have_count(0)


def test_a_dialog_that_is_the_whole_page_leads_on_when_closed_also_after_an_answer(
    luca: Membership, open_page: OpenPage
) -> None:
    token = TokenFactory.create(account__tenant=luca.team.tenant, owner=luca.user)
    job = JobFactory.create(account=token.account, token=token, kind=JobKind.CHARACTER)
    page = open_page(luca, reverse("character-training", args=[job.pk]))
    dialog = page.locator("dialog[open]")
    expect(dialog).to_be_visible()
    page.evaluate("htmx.ajax('GET', location.href, { target: '#confirm', swap: 'outerHTML' })")
    expect(page.locator("dialog[open]:not([data-page])")).to_be_visible()
    page.keyboard.press("Escape")
    page.wait_for_url(lambda url: "/training/" not in url)
