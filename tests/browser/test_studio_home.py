"""The studio's first page: from a topic to a priced draft, over the processes of `make run`."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Browser, Dialog, Page, expect

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl

# The entries of the whole product, in their order; each is there once its page is.
MENU = (
    *("Overview", "Library", "Studio", "Ideas", "Voices", "Characters", "Batches", "Ledger"),
    *("Costs", "Budgets", "Forecast", "Auto top-up", "Reconciliation", "Alerts", "Members"),
    *("Tokens", "API keys", "Audit log", "Operations", "Instance"),
)

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

SLOW_SESSION_CHECK_JS = """() => {
    const send = window.fetch;
    const pause = () => new Promise((done) => setTimeout(done, 1500));
    window.fetch = (...request) => pause().then(() => send(...request));
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
    expect(price).to_contain_text("≈")
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


def test_a_wrong_field_is_marked_until_it_is_mended(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    page = luca.page
    page.goto("/studio/")
    field = page.locator("textarea[name=start]")
    page.get_by_role("button", name="Continue").click()
    expect(field).to_have_attribute("aria-invalid", "true")
    field.fill("Glaciers")
    expect(page.locator("#id_start_help")).to_contain_text("Reads as a topic")
    expect(field).to_have_attribute("aria-invalid", "false")
    field.fill("word " * 3001)
    expect(page.locator("#id_start_help")).to_contain_text("3,001 words are too many")
    expect(field).to_have_attribute("aria-invalid", "true")


def test_a_button_that_the_reading_replaces_while_it_is_pressed_still_counts(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca = open_member_page("Luca")
    luca.use_token_of(sandbox_control.create_account())
    luca.page.goto("/studio/")
    # The check of the session takes longer than the reading of what was typed.
    luca.page.evaluate(SLOW_SESSION_CHECK_JS)
    luca.begin_draft("Why glaciers are blue")
    luca.page.wait_for_url("**/studio/*-*/*/")


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


def test_a_draft_starts_without_scripts(
    open_member_page: Callable[..., MemberPage], chromium: Browser, live_portal: LivePortal
) -> None:
    state = open_member_page("Luca").page.context.storage_state()
    with chromium.new_context(
        base_url=live_portal.portal, storage_state=state, java_script_enabled=False
    ) as context:
        page = context.new_page()
        page.goto("/studio/")
        page.locator("textarea[name=start]").fill("Why glaciers are blue")
        page.get_by_role("button", name="Continue").click()
        page.wait_for_url("**/script/")
        page.goto("/studio/")
        page.get_by_role("link", name="All drafts").click()
        assert page.get_by_role("link", name="Why glaciers are blue").count()
        page.get_by_role("button", name="Delete “Why glaciers are blue”").first.click()
        assert page.locator(".toast").inner_text().startswith("“Why glaciers are blue” is deleted.")
        page.get_by_role("button", name="Undo").click()
        assert page.get_by_role("link", name="Why glaciers are blue").count()


def test_the_drafts_of_others_appear_and_go_by_themselves(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, vera = open_member_page("Luca"), open_member_page("Vera")
    luca.use_token_of(sandbox_control.create_account())
    vera.page.goto("/studio/")
    expect(vera.page.locator("#drafts .segmented, #drafts .empty").first).to_be_visible()
    luca.page.goto("/studio/")
    luca.begin_draft("Seen by a colleague at once")
    row = vera.page.locator("#drafts tr", has_text="Seen by a colleague at once")
    expect(row).to_contain_text("cript")
    luca.page.wait_for_url("**/studio/*-*/*/")
    luca.page.goto("/studio/drafts/")
    luca.page.get_by_role("button", name="Delete “Seen by a colleague at once”").click()
    expect(row).to_have_count(0)
    luca.page.get_by_role("button", name="Undo").click()
    expect(row).to_be_visible()


def test_all_entries_of_the_menu_are_visible_at_1440_by_900(
    open_member_page: Callable[..., MemberPage],
) -> None:
    page = open_member_page("Mira", viewport={"width": 1440, "height": 900}).page
    page.goto("/studio/")
    menu = page.locator(".sidebar__nav")
    assert menu.evaluate("menu => menu.scrollHeight <= menu.clientHeight")
    entries = menu.locator(".nav__item")
    names = [name.split("\n")[0].strip() for name in entries.all_inner_texts()]
    assert [name for name in MENU if name in names] == names
    assert entries.first.evaluate("entry => entry.offsetHeight") == 28
    page.set_viewport_size({"width": 1440, "height": 500})
    expect(page.locator(".sidebar .team-balance")).to_be_in_viewport()
    expect(page.locator(".sidebar .team")).to_be_in_viewport()


def wait_for_formats(page: Page) -> None:
    """Open the first page once the account's options were read."""
    for _ in range(40):
        page.goto("/studio/")
        if page.locator("[name=aspect_ratio]").count():
            return
        page.wait_for_timeout(500)
    raise AssertionError("the account's options were not read")
