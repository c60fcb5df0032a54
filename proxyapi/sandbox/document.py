"""Tables in the documents that are read off the code: the routes, and the scenarios for clients.

`python -m proxyapi.sandbox.document` writes them between their marks; `--check` only compares, and
exits with 1 when a page tells of others than there are.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fastapi.routing import APIRoute

from proxyapi.sandbox import api, client_checks
from proxyapi.sandbox.api.shapes import CreditsMeta

DOCS = Path(__file__).parents[2] / "docs"
HEADS = ("endpoint", "answers", "`meta.credits`", "without a subscription", "plan's feature")
SCENARIO_HEADS = ("scenario", "what happens", "a careful client")


def main(arguments: list[str]) -> int:
    scenarios: list[tuple[str, ...]] = [
        (f"`{it.name}`", it.happens, it.expected) for it in client_checks.SCENARIOS.values()
    ]
    tables: tuple[tuple[str, str, list[tuple[str, ...]]], ...] = (
        ("sandbox.md", "endpoints", [HEADS, ("---",) * len(HEADS), *_rows()]),
        ("client-checks.md", "scenarios", [SCENARIO_HEADS, ("---",) * 3, *scenarios]),
    )
    status = 0
    for page, name, rows in tables:
        text = (DOCS / page).read_text(encoding="utf-8")
        wanted = fill_table(text, name, rows)
        if wanted == text:
            continue
        if "--check" in arguments:
            print(f"docs/{page} is out of date. Run: make fix")
            status = 1
        else:
            (DOCS / page).write_text(wanted, encoding="utf-8")
            print(f"docs/{page} written")
    return status


def fill_table(text: str, name: str, rows: list[tuple[str, ...]]) -> str:
    """The page with this table between its marks. Raises ValueError if a mark is missing."""
    start, end = f"<!-- {name}: written by `make fix` -->", f"<!-- end of {name} -->"
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return f"{text[: text.index(start)]}{start}\n{table}\n{text[text.index(end) :]}"


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
