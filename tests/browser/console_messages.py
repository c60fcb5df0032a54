"""What a page must not say: errors and warnings of the console, exceptions, failed requests."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, ConsoleMessage, Request, WebError

# A form that is refused; a request that the page gives up, such as by leaving or for a newer one.
# htmx says afterRequest beside the message that names the fault. The player of a video that renders
# again asks for a film that is gone; a still or a poster is 204 then.
USUAL = (
    r"status of 422|ERR_ABORTED|htmx:sendAbort|htmx:afterRequest"
    r"|404 .*/videos/[0-9a-f-]+/media/\)"
)
# htmx says it only when such an element sends; inherited, it is looked for in another element.
FIND_DISABLED_JS = """document.addEventListener("htmx:load", ({ target }) => {
    for (const one of target.querySelectorAll(":scope, [hx-get], [hx-post]")) {
        const value = one.closest("[hx-disabled-elt]")?.getAttribute("hx-disabled-elt") ?? "";
        const found = value.split(",").map((rule) => rule.trim().match(/^find (.*)/)?.[1]);
        if (found[0] && !found.some((rule) => one.querySelector(rule)))
            console.error(`hx-disabled-elt="${value}" finds nothing`, one.outerHTML.slice(0, 200));
    }
})"""


class ConsoleMessages:
    """Collects them from contexts. `@pytest.mark.console("503")` names, as regular expressions,
    those that a test causes on purpose; each must come."""

    def __init__(self, expected: tuple[str, ...]) -> None:
        self.expected = expected
        self.found: list[str] = []

    def watch(self, context: BrowserContext) -> None:
        context.add_init_script(FIND_DISABLED_JS)
        context.on("console", self.add_message)
        context.on("weberror", self.add_exception)
        context.on("requestfailed", self.add_failed_request)

    def add_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.found.append(f"{message.type}: {message.text} ({message.location['url']})")

    def add_exception(self, error: WebError) -> None:
        self.found.append(f"exception: {error.error}")

    def add_failed_request(self, request: Request) -> None:
        self.found.append(f"failed: {request.method} {request.url}: {request.failure}")

    def check(self) -> None:
        expected = "|".join((USUAL, *self.expected))
        unexpected = [message for message in self.found if not re.search(expected, message)]
        assert not unexpected, "\n".join(["The page said:", *unexpected])
        said = "\n".join(self.found)
        missing = [pattern for pattern in self.expected if not re.search(pattern, said)]
        assert not missing, f"The page did not say: {missing}"


def expected_messages(node: pytest.Item) -> tuple[str, ...]:
    return tuple(pattern for mark in node.iter_markers("console") for pattern in mark.args)
