"""The studio's first page: from a topic to a priced draft, over the processes of `make run`."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Dialog, Page, expect

from tests.browser.member_page import PRICED_TIMEOUT_MS, MemberPage
from tests.browser.sandbox_control import SandboxControl

# The presses and typed fields of a person, without what a script does.
COUNT_PRESSES_JS = """() => {
    const count = () => JSON.parse(sessionStorage.counted ?? '{"presses": 0, "fields": []}');
    const keep = (counted) => (sessionStorage.counted = JSON.stringify(counted));
    document.addEventListener("click", ({ isTrusted, target }) => {
        if (!isTrusted || !target.closest("a, button, label, select")) return;
        const counted = count();
        keep({ ...counted, presses: counted.presses + 1 });
    }, true);
    document.addEventListener("input", ({ isTrusted, target: { name } }) => {
        const counted = count();
        if (!isTrusted || counted.fields.includes(name)) return;
        keep({ ...counted, fields: [...counted.fields, name] });
    }, true);
}"""


def test_a_topic_becomes_a_priced_draft_in_two_presses_and_one_field(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    page = luca.page
    page.add_init_script(f"({COUNT_PRESSES_JS})()")
    wait_for_formats(page)
    page.locator("textarea[name=start]").focus()  # as Tab does
    page.keyboard.type("Why glaciers are blue")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a topic")
    page.get_by_role("button", name="Continue").click()
    page.wait_for_url("**/script/")
    page.get_by_role("button", name="Write the script").click()
    price = page.locator(".figure").first
    expect(price).to_contain_text("≈", timeout=PRICED_TIMEOUT_MS)
    expect(page.locator("#needs")).not_to_contain_text("Missing")
    expect(page.locator(".btn--primary:visible", has_text="Render")).to_be_enabled()
    counted = page.evaluate("JSON.parse(sessionStorage.counted)")
    assert counted == {"presses": 2, "fields": ["start"]}
    assert sandbox_control.spent_credits(guest) == 4


def test_the_reading_follows_what_is_typed_and_can_be_changed(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    wait_for_formats(page)
    field, reading = page.locator("textarea[name=start]"), page.locator("#id_start_help")
    field.fill("Ice moves. Snow falls on it every year. In summer it melts a little.")
    expect(reading).to_contain_text("Reads as a script")
    expect(page.get_by_label("Length")).to_have_count(0)
    reading.get_by_role("button", name="Use it as the topic").click()
    expect(reading).to_contain_text("Reads as a topic")
    page.get_by_label("Length").select_option(label="3 min")
    expect(reading).to_contain_text("about 450 words")
    field.press("Control+Enter")
    page.wait_for_url("**/script/")
    expect(page.locator("textarea[name=topic]")).to_have_value(re.compile("Ice moves"))
    expect(page.locator("select[name=duration]")).to_have_value("180")


def test_the_reading_keeps_typed_words_guarded(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Luca").page
    page.goto("/studio/")
    field = page.locator("textarea[name=start]")
    asked: list[str] = []

    def stay(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    field.press_sequentially("Glaciers")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a topic")
    page.locator("a[href='/library/']:visible").first.click()
    expect(field).to_have_value("Glaciers")
    assert asked == ["beforeunload"]


def wait_for_formats(page: Page) -> None:
    """Open the first page once the account's options were read."""
    for _ in range(40):
        page.goto("/studio/")
        if page.locator("[name=aspect_ratio]").count():
            return
        page.wait_for_timeout(500)
    raise AssertionError("the account's options were not read")
