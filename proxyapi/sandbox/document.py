"""The table of endpoints in docs/sandbox.md, read off the routes.

`python -m proxyapi.sandbox.document` writes it between its marks; `--check` only compares, and
exits with 1 when the page tells of other routes than there are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

from proxyapi.sandbox import api
from proxyapi.sandbox.api.shapes import CreditsMeta

PAGE = Path(__file__).parents[2] / "docs" / "sandbox.md"
START, END = "<!-- endpoints: written by `make fix` -->", "<!-- end of endpoints -->"
HEADS = ("endpoint", "answers", "`meta.credits`", "without a subscription", "plan's feature")


def main(arguments: list[str]) -> int:
    text = PAGE.read_text(encoding="utf-8")
    wanted = fill_table(text)
    if wanted == text:
        return 0
    if "--check" in arguments:
        print("docs/sandbox.md is out of date. Run: make fix")
        return 1
    PAGE.write_text(wanted, encoding="utf-8")
    print("docs/sandbox.md written")
    return 0


def fill_table(text: str) -> str:
    """The page with the table of today's routes. Raises ValueError if a mark is missing."""
    before, after = text[: text.index(START)], text[text.index(END) :]
    return f"{before}{START}\n{render_endpoint_table()}\n{after}"


def render_endpoint_table() -> str:
    rows = [HEADS, ("---",) * len(HEADS), *_rows()]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _rows() -> Iterator[tuple[str, ...]]:
    routes = [it for router in api.ROUTERS for it in router.routes if isinstance(it, APIRoute)]
    for path, methods in _group_routes(routes).items():
        for method, route in methods.items():
            needs: Any = route  # of a class that gate.gated made
            yield (
                f"{method} `{path}`",
                str(route.status_code or 200),
                _reports_charge(route.response_model),
                "" if needs.subscribers_only else "yes",
                f"`{needs.plan_feature}`" if needs.plan_feature else "",
            )


def _group_routes(routes: list[APIRoute]) -> dict[str, dict[str, APIRoute]]:
    """By path, then by method; a path whose method is a setting has one line for all of them."""
    found: dict[str, dict[str, APIRoute]] = {}
    for route in routes:
        for method in sorted(route.methods or ()):
            found.setdefault(route.path, {})[method] = route
    for path, methods in found.items():
        if set(methods) == {"PUT", "POST", "PATCH"}:
            found[path] = {"PUT (`scene_edit_method`)": methods["PUT"]}
    return found


def _reports_charge(shape: Any) -> str:
    """Whether the answer tells what was charged."""
    field = getattr(shape, "model_fields", {}).get("meta")
    if field is None or "CreditsMeta" not in str(field.annotation):
        return ""
    return "always" if field.annotation is CreditsMeta else "when it charges"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
