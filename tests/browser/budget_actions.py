"""What a treasurer does on the page of budgets."""

from __future__ import annotations

from playwright.sync_api import Page, expect


def open_budget_dialog(thea: Page, act: str) -> None:
    """The dialog of an act on the page of budgets."""
    thea.goto("/budgets/")
    thea.get_by_role("link", name=act).first.click()
    expect(thea.locator("dialog[open]")).to_be_visible()


def add_budget(thea: Page, who: str, hard: str, soft: str = "") -> None:
    open_budget_dialog(thea, "Add budget")
    dialog = thea.locator("dialog[open]")
    dialog.get_by_label("For").select_option(label=who)
    dialog.get_by_label("Limit").fill(hard)
    dialog.get_by_label("Alert at").fill(soft)
    dialog.get_by_role("button", name="Add budget").click()
    expect(dialog).to_have_count(0)
    expect(thea.locator("#budgets")).to_contain_text(who)


def end_budget(thea: Page, who: str) -> None:
    open_budget_dialog(thea, f"Change the limits of {who}")
    thea.locator("dialog[open]").get_by_role("button", name="Remove budget").click()
    expect(thea.locator("#toasts")).to_contain_text("removed")
