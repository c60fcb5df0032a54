"""A person of the team at a page: what they do in every test before the day turns bad.

A draft is filled by the same forms that the studio shows, sent without looking at each page;
whatever a test is about is pressed in the page itself.
"""

from __future__ import annotations

import json
import re
from functools import cached_property

from django.utils.html import strip_tags
from playwright.sync_api import APIResponse, Locator, Page, expect

from tests.browser.portal_process import DemoPerson
from tests.browser.sandbox_control import SandboxGuest, wait_until

SCRIPT_TEXT = "A glacier looks still, and yet it moves. Every winter lays down a layer of snow."
# On two cores at a load of twenty: for whatever a test expects unless it says more, and for a film.
DEFAULT_TIMEOUT_MS, RENDERED_TIMEOUT_MS = 60_000, 120_000
LEDGER_TIMEOUT_MS = 120_000  # of what only the ledger says, which is read once a minute


def sign_in(page: Page, person: DemoPerson) -> None:
    page.goto("/accounts/login/")
    page.locator("input[name=login]").fill(person.email)
    page.locator("input[name=password]").fill(person.password)
    page.locator("input[name=password]").press("Enter")
    page.wait_for_url(lambda url: "/accounts/login" not in url)


class MemberPage:
    """One page of one person who has signed in."""

    def __init__(self, page: Page) -> None:
        self.page = page

    # Tokens

    def add_token(self, token: str) -> None:
        self.page.goto("/tokens/")
        self.page.get_by_label("API token").fill(token)
        self.page.get_by_role("button", name="Add token").click()

    def use_token_of(self, guest: SandboxGuest) -> None:
        """What is made from now on runs on this token. Adds it without looking at the page.

        A service or a limiter that is busy refuses it for a moment, so it is added until it is
        listed; what the page said last is told when it never is.
        """
        said = ""

        def is_listed() -> bool:
            nonlocal said
            said = self.post_form("/tokens/", token=guest.token).text()
            return f"…{guest.token[-4:]}" in said

        try:
            wait_until(is_listed)
        except AssertionError:
            raise AssertionError(f"The token was not added: {strip_tags(said)}") from None

    def remove_tokens(self) -> None:
        """Those of other tests, too."""
        page = self.page.request.get("/tokens/").text()
        for removal in set(re.findall(r"/tokens/[\da-f-]+/removals/", page)):
            assert self.post_form(removal).ok

    # Drafts

    def begin_draft(self, text: str) -> None:
        """Fill the field of a new video and press its button."""
        self.page.locator("textarea[name=start]").fill(text)
        self.page.get_by_role("button", name="Continue").click()

    def create_draft(self, title: str, script: str = SCRIPT_TEXT) -> str:
        """The id of a new draft that has all that a render needs; without words it has a topic."""
        begun = self.post_form("/studio/drafts/", start=title, read_as="topic", type="ai-visuals")
        job = begun.url.split("/")[-3]
        if script:
            assert self.post_form(f"/studio/{job}/script/", script=script).ok
        for step in ("voice", "visuals"):
            wait_until(lambda step=step: self.offered_choices(job, step))  # type: ignore[misc]
            saved = self.post_form(f"/studio/{job}/{step}/", **self.offered_choices(job, step))
            assert saved.ok, saved.text()
        return job

    def offered_choices(self, job: str, step: str) -> dict[str, str]:
        """The first choices of a step, as its form would send them."""
        page = self.page.request.get(f"/studio/{job}/{step}/").text()
        radios = re.findall(r'<input[^>]*type="radio"[^>]*>', page)
        pairs = [re.search(r'name="(\w+_id)"[^>]*value="([^"]+)"', radio) for radio in radios]
        return {pair[1]: pair[2] for pair in reversed(pairs) if pair}

    def post_form(self, path: str, **form: str) -> APIResponse:
        """A form, sent by this person's browser without showing the answer."""
        return self.page.request.post(path, form={**form}, headers=self.form_headers)

    @cached_property
    def form_headers(self) -> dict[str, str]:
        """Those of every form of a page; they stay while the person is signed in."""
        page = self.page.request.get("/library/").text()
        found = re.search(r"hx-headers='([^']+)'", page)
        assert found, page
        headers: dict[str, str] = json.loads(found[1])
        return headers

    def write_script(self, job: str) -> None:
        self.page.goto(f"/studio/{job}/script/")
        self.page.get_by_role("button", name="Write the script").click()

    # Renders

    def open_review(self, job: str) -> None:
        self.page.goto(f"/studio/{job}/review/")

    def open_render_dialog(self, job: str) -> Locator:
        """Up to the question with the price; answers its dialog."""
        self.open_review(job)
        dialog = self.page.locator("dialog[open]")
        self.page.locator(".btn--primary:visible", has_text="Render").first.click()
        expect(dialog).to_contain_text("Held until the exact price is known")
        return dialog

    def confirm_dialog(self, dialog: Locator) -> None:
        dialog.get_by_role("button", name="Render").click()
        self.page.wait_for_url("**/videos/**")

    def render_video(self, job: str) -> None:
        self.confirm_dialog(self.open_render_dialog(job))

    def make_video(self, title: str) -> str:
        """A video that was sent to be rendered; its page is open."""
        job = self.create_draft(title)
        self.render_video(job)
        return job

    def order_video(self, title: str, script: str = SCRIPT_TEXT) -> str:
        """The same without looking at the pages on the way."""
        job = self.create_draft(title, script)
        wait_until(lambda: "price" in self.render_dialog_fields(job))
        sent = self.post_form(f"/studio/{job}/renders/", **self.render_dialog_fields(job))
        assert sent.url.endswith(f"/videos/{job}/"), sent.text()
        self.page.goto(sent.url)
        return job

    def render_dialog_fields(self, job: str) -> dict[str, str]:
        """What the form of the question holds; no price before there is one."""
        fragment = {"HX-Request": "true"}
        page = self.page.request.get(f"/studio/{job}/renders/", headers=fragment).text()
        return dict(re.findall(r'name="(nonce|price)" value="([\da-f.-]+)"', page))

    # The open page of a video

    @property
    def video_status(self) -> Locator:
        """What it says of itself now."""
        return self.page.locator("[id$='-status-wide']:visible, [id$='-status-phone']:visible")

    @property
    def film_player(self) -> Locator:
        return self.page.locator(".player video")

    def wait_until_price_is_final(self, job: str) -> None:
        """Wait until the page shows an exact price; only that form has no name."""
        expect(self.shown_spending(job)).to_be_visible(timeout=LEDGER_TIMEOUT_MS)

    def shown_cost(self, job: str) -> int:
        """Credits that the page says were spent on it."""
        self.wait_until_price_is_final(job)
        return int(self.shown_spending(job).get_attribute("value") or -1)

    def shown_spending(self, job: str) -> Locator:
        exact = ".amount--lead:not([data-is]):not([value='0'])"
        return self.page.locator(f"#job-{job}-lineage .card__foot {exact}")
