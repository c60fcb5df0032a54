"""docs/reference/assumptions.md: what the specification does not show, what the sandbox does there,
what else the portal copes with, and the test that shows it.

The sandbox's column comes from its settings: their descriptions, defaults and other values. Each
setting is named by a row of `AREAS` or by `NO_ASSUMPTION`, with a reason.
Written by `python -m tests.checks.assumptions` (and by `make fix`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic.fields import FieldInfo

from proxyapi.sandbox.settings import Settings
from tests.checks.assumption_table import ACCOUNT_AREAS, Assumption
from tests.checks.assumption_table_jobs import JOB_AREAS

ROOT = Path(__file__).resolve().parents[2]
ASSUMPTIONS_PAGE = "docs/reference/assumptions.md"
AREAS: Mapping[str, Sequence[Assumption]] = {**ACCOUNT_AREAS, **JOB_AREAS}

SPEED = "How long work takes; the portal waits for the end, not for a time."
SIZE = "A limit of the sandbox; a refusal shows the service's sentence."
INNER = "Of the sandbox itself; no answer shows it."
NO_ASSUMPTION: Mapping[str, Sequence[str]] = {
    SPEED: (
        *("render_seconds", "render_seconds_per_minute", "clip_seconds", "training_seconds"),
        *("clip_seconds_per_second", "discovery_seconds", "preview_seconds", "clone_seconds"),
        "cached_search_is_quick",
    ),
    SIZE: (
        *("upload_bytes", "uploads_per_video", "sample_bytes", "character_image_bytes"),
        *("ideas_per_search", "previews_per_call"),
    ),
    INNER: (
        *("films", "loopback_pages", "double_charge_seconds", "same_intent_seconds"),
        "journal_lines",
    ),
    "The portal does not send `only`.": ("unknown_only",),
}


def find_assumption_problems(root: Path) -> Iterator[str]:
    rows = [row for area in AREAS.values() for row in area]
    for row in rows:
        file, _, test = address_of_test(row).partition("::")
        source = root / file
        if not source.is_file() or f"\ndef {test}(" not in source.read_text(encoding="utf-8"):
            yield f"{__name__}: {address_of_test(row)} does not exist"
        if not row.settings and not row.sandbox:
            yield f"{__name__}: nothing says what the sandbox does: {row.not_shown}"
    named = {name for row in rows for name in row.settings}
    named |= {name for names in NO_ASSUMPTION.values() for name in names}
    for name in sorted(Settings.model_fields.keys() - named):
        yield f"{__name__}: the sandbox's setting {name} has no row and no reason to have none"
    for name in sorted(named - Settings.model_fields.keys()):
        yield f"{__name__}: the sandbox has no setting {name}"
    page = root / ASSUMPTIONS_PAGE
    if not page.is_file() or page.read_text(encoding="utf-8") != render_assumptions_page():
        yield f"{ASSUMPTIONS_PAGE} is not what the code says. Run: make fix"


def address_of_test(row: Assumption) -> str:
    return (
        f"tests/{row.test}" if row.test.startswith("dashboard/") else f"tests/proxyapi/{row.test}"
    )


def describe_setting(name: str, field: FieldInfo) -> str:
    """What a setting decides, its default and, where there are few, its other values."""
    default, kind = field.default, field.annotation
    text = f"{field.description} `{name}`"
    if field.default_factory is not None:
        return text
    values: Sequence[Any] = get_args(kind) if get_origin(kind) is Literal else ()
    values = (True, False) if kind is bool else values
    others = " or ".join(f"`{json.dumps(value)}`" for value in values if value != default)
    return f"{text}: `{json.dumps(default)}`" + (f", or {others}" if others else "")


def render_assumptions_page() -> str:
    lines = [
        "<!-- Written by `python -m tests.checks.assumptions`; change the code instead. -->",
        "",
        "# Assumptions about the service",
        "",
        'The specification says "not shown" in many places. There the sandbox has to choose an',
        "answer, and the portal must not depend on that choice. Each row has what is not shown,",
        "what the sandbox does (by a setting of `/_sandbox/settings`, its default first), what",
        "else the portal copes with, and the test that shows it.",
    ]
    for area, rows in AREAS.items():
        lines += ["", f"## {area}", ""]
        lines += ["| not shown | the sandbox | the portal copes with | test |"]
        lines += ["| --- | --- | --- | --- |"]
        for row in rows:
            fields = Settings.model_fields
            texts = [
                describe_setting(name, fields[name]) for name in row.settings if name in fields
            ]
            sandbox = "<br>".join([*filter(None, [row.sandbox]), *texts])
            cells = (row.not_shown, sandbox, row.copes, f"`{address_of_test(row)}`")
            lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    lines += ["", "## Settings of the sandbox that are no assumption", ""]
    for reason, names in NO_ASSUMPTION.items():
        lines.append(f"- {', '.join(f'`{name}`' for name in names)}: {reason}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (ROOT / ASSUMPTIONS_PAGE).write_text(render_assumptions_page(), encoding="utf-8")
