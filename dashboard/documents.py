"""Pages of the documentation that are read off the code: `manage.py document` writes them.

`make check` compares them, so a table in docs/reference never tells of yesterday's code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dashboard.roles import ROLES, SENTENCES, Permission
from proxyapi.charges import evidence
from proxyapi.charges.effect import KEPT
from proxyapi.models.charge import CREATES, HOLDING, TRANSITIONS
from proxyapi.upstream.catalog import CATALOG
from proxyapi.upstream.operation import Operation

WRITTEN = "<!-- Written by `manage.py document`; change the code instead. -->"


def pages() -> dict[str, str]:
    """The text of every page, by its path from the root of the repository."""
    return {
        "docs/reference/charges.md": charges(),
        "docs/reference/endpoints.md": endpoints(),
        "docs/reference/evidence.md": evidences(),
        "docs/reference/roles.md": roles(),
    }


def charges() -> str:
    arrows = [
        f"    {start} --> {end}" for start, ends in TRANSITIONS.items() for end in sorted(ends)
    ]
    last = [f"    {state} --> [*]" for state, ends in TRANSITIONS.items() if not ends]
    holding = ", ".join(f"`{state}`" for state in HOLDING)
    return page(
        "The states of a charge",
        f"The table is `TRANSITIONS` in `proxyapi/models/charge.py`. {holding} reserve credits.",
        "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> draft", *arrows, *last, "```"]),
    )


def endpoints() -> str:
    rows = [
        (
            f"`{row.name}`",
            f"{row.method} `{row.path}`" + ("" if row.method_shown else " (method assumed)"),
            "yes" if row.charging else "",
            row.retry,
            "" if row.evidence == "none" else row.evidence,
            f"{row.timeout:g} s",
        )
        for row in operations()
    ]
    heads = ("name", "endpoint", "charges", "repeating", "proof of a lost answer", "waits")
    return page(
        "What is ever sent to the service",
        f"{len(rows)} rows of `proxyapi/upstream/catalog.py`. Nothing else leaves the portal.",
        table(heads, rows),
    )


# What is read for a charge besides the resource that it is about.
OWN = {"ideas": "`ideas.list`", "slots": "`voice_clones.slots`"}


def evidences() -> str:
    rows = [
        (
            f"`{row.name}`",
            ""
            if row.name in CREATES and row.evidence == "ledger"
            else OWN.get(row.evidence, "itself"),
            evidence.TABLE[row.evidence].words,
            "kept" if row.name in KEPT else "",
            "lost: an orphan" if row.name in CREATES else "",
        )
        for row in operations()
        if row.charging
    ]
    heads = ("operation", "read before and after", "proves it", "its answer", "its id")
    lead = (
        "The table is `TABLE` in `proxyapi/charges/evidence.py`: what becomes of a charge whose "
        "answer got lost. Its cost is always its debit's."
    )
    return page("What proves a charge", lead, table(heads, rows))


def operations() -> Iterable[Operation]:
    return CATALOG.values()


def roles() -> str:
    rows = [
        (role.value, *("yes" if one in may else "" for one in Permission), SENTENCES[role])
        for role, may in ROLES.items()
    ]
    heads = ("role", *(one.value.replace("_", " ") for one in Permission), "in words")
    return page(
        "Who may do what", "The table is `ROLES` in `dashboard/roles.py`.", table(heads, rows)
    )


def page(title: str, lead: str, body: str) -> str:
    return f"{WRITTEN}\n\n# {title}\n\n{lead}\n\n{body}\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])
