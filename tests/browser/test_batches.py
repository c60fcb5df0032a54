"""A file of twelve rows with three mistakes, over the real processes of `make run`: repaired,
started, one failure sent again, and the results compared with what the service charged."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal

from playwright.sync_api import Page, Route, expect

from tests.browser.member_page import RENDERED_TIMEOUT_MS, SCRIPT_TEXT, MemberPage
from tests.browser.page_audit import serious_violations
from tests.browser.sandbox_control import SandboxControl

RUN_TIMEOUT_MS = 3 * RENDERED_TIMEOUT_MS
HEADERS = "title,topic,script,voice,length\n"
WRONG_ROWS = (
    f'Ice one,,"{SCRIPT_TEXT}",Marcus Red,\n'
    "Ice two,How ice moves,,,45\n"
    f'Ice three,How ice moves,"{SCRIPT_TEXT}",,\n'
)
ROWS = "".join(f'Lake {number},,"{SCRIPT_TEXT}",,\n' for number in range(4, 13))


def test_a_file_becomes_videos(
    open_member_page: Callable[..., MemberPage], sandbox_control: SandboxControl
) -> None:
    luca, guest = open_member_page("Luca"), sandbox_control.create_account()
    luca.use_token_of(guest)
    luca.order_video("An earlier glacier")
    expect(luca.film_player).to_be_visible(timeout=RENDERED_TIMEOUT_MS)
    before, page = sandbox_control.spent_credits(guest), luca.page
    upload(page)
    repair(page)
    start(page, sandbox_control)
    expect(page.locator("#batch")).to_contain_text("Finished", timeout=RUN_TIMEOUT_MS)
    expect(page.locator("#batch")).to_contain_text("11 of 12 done")
    page.get_by_role("link", name="Retry 1 failed").click()
    page.locator("dialog[open]").get_by_role("button", name="Retry 1 video").click()
    expect(page.locator("#batch")).to_contain_text("12 of 12 done", timeout=RENDERED_TIMEOUT_MS)
    assert serious_violations(page) == []
    rows = download_results(page)
    assert [row["state"] for row in rows] == ["Done"] * 12
    assert all("/videos/" in row["video"] for row in rows)
    spent = sum(Decimal(row["credits"]) for row in rows)
    assert spent == sandbox_control.spent_credits(guest) - before


def upload(page: Page) -> None:
    page.goto("/batches/new/")
    content = (HEADERS + WRONG_ROWS + ROWS).encode()
    file = {"name": "lakes.csv", "mimeType": "text/csv", "buffer": content}
    page.get_by_label("File", exact=True).set_input_files(file)  # type: ignore[arg-type]
    page.get_by_role("button", name="Check rows").click()
    expect(page.locator("#dry-run")).to_contain_text("D2: “Marcus Red” is no voice")
    expect(page.locator("#dry-run")).to_contain_text("E3: “45” is no length")
    expect(page.locator("#dry-run")).to_contain_text("C4: Enter a topic or a script, not both.")
    assert serious_violations(page) == []


def repair(page: Page) -> None:
    """By the suggestion, and in the row's dialog, which is opened before that is answered."""
    with held_post(page):
        page.get_by_role("button", name="Use Marcus Reed").click()
        page.get_by_role("link", name="Edit row 2", exact=True).click()
        expect(page.locator("dialog[open]")).to_contain_text("Row 2")
    expect(page.locator("#row-1")).not_to_have_attribute("data-state", "failed")
    save_row(page, "E3 length", "30")
    edit_row(page, 3, "B4 topic", "")
    for number in (2, 3):
        expect(page.locator(f"#row-{number}")).not_to_have_attribute("data-state", "failed")
    expect(page.locator("#price")).to_contain_text("of 12 rows")


@contextmanager
def held_post(page: Page) -> Iterator[None]:
    """Let a form be answered at the end only: a page that is loaded anew then closes the dialog
    that was opened meanwhile."""
    waiting: list[Route] = []

    def hold(route: Route) -> None:
        if route.request.method == "POST":
            waiting.append(route)
        else:
            route.continue_()

    page.route("**/batches/**", hold)
    try:
        with page.expect_request(lambda request: request.method == "POST"):
            yield
        while not waiting:
            page.evaluate("0")  # lets the route be heard
    finally:
        for route in waiting:
            route.continue_()
        page.unroute("**/batches/**")


def edit_row(page: Page, number: int, label: str, text: str) -> None:
    page.get_by_role("link", name=f"Edit row {number}", exact=True).click()
    save_row(page, label, text)


def save_row(page: Page, label: str, text: str) -> None:
    dialog = page.locator("dialog[open]")
    dialog.get_by_label(label).fill(text)
    dialog.get_by_role("button", name="Save row").click()
    expect(dialog).to_have_count(0)


def start(page: Page, sandbox_control: SandboxControl) -> None:
    page.get_by_label("At once").select_option("4")
    sandbox_control.script_outcome("rendering", "failed", code="X", message="No image.")
    dialog = page.locator("dialog[open]")
    with held_post(page):
        page.get_by_role("button", name="Save and check again").click()
        page.get_by_role("link", name="Start 12 videos").click()
        expect(dialog).to_contain_text("At most, for all")
    expect(page.locator("form[data-typed]")).to_have_count(0)
    dialog.get_by_role("button", name="Start 12 videos").click()
    expect(page.locator("#batch")).to_contain_text("Running")


def download_results(page: Page) -> list[dict[str, str]]:
    with page.expect_download() as download:
        page.get_by_role("link", name="Results CSV").click()
    text = download.value.path().read_text("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))
