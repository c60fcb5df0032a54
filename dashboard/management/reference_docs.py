"""Documentation pages generated from the code by `manage.py write_docs`.

`make check` compares them, so that docs/reference always matches the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import Role
from dashboard.shared.roles import (
    ROLE_DESCRIPTIONS,
    ROLE_PERMISSIONS,
    Permission,
    assignable_roles,
    grantable_roles,
)
from proxyapi.models.charge import CHARGE_TRANSITIONS, HOLDING_STATES
from proxyapi.operations import EVIDENCE_READS, OPERATIONS, ExecutionEvidence, Operation

GENERATED_NOTICE = "<!-- Written by `manage.py write_docs`; change the code instead. -->"
EVIDENCE_DESCRIPTIONS = {
    ExecutionEvidence.STATUS: "another status, or another part, than before; from a last status "
    "on, a debit alone",
    ExecutionEvidence.SCRIPT: "another script than before",
    ExecutionEvidence.LEDGER: "a debit alone",
    ExecutionEvidence.IDEAS: "ideas that were not there; searched before, a debit alone",
    ExecutionEvidence.SLOTS: "one free slot fewer; without one before, a debit alone",
}


def build_reference_pages() -> dict[str, str]:
    """The text of every page by its path in the repository."""
    return {
        "docs/reference/alerts.md": alert_kinds_page(),
        "docs/reference/charges.md": charge_states_page(),
        "docs/reference/endpoints.md": endpoints_page(),
        "docs/reference/evidence.md": evidence_page(),
        "docs/reference/roles.md": roles_page(),
    }


def alert_kinds_page() -> str:
    rows = [
        (
            f"`{spec.webhook_type}`",
            spec.sentence,
            f"{spec.threshold.minimum:,} to {spec.threshold.maximum:,} {spec.threshold.unit}"
            if spec.threshold
            else "",
            ", ".join(f"{threshold:,}" for threshold in spec.default_thresholds)
            if spec.threshold
            else "yes",
            "15 min" if spec.is_slow else "30 s",
        )
        for spec in ALERT_KINDS.values()
    ]
    heads = ("webhook type", "told when", "threshold", "rule from the start", "checked every")
    lead = "Each is one module of `dashboard/alerts/kinds/` and a value of `AlertKind`."
    return markdown_page("What alerts watch", lead, markdown_table(heads, rows))


def charge_states_page() -> str:
    arrows = [
        f"    {start} --> {end}"
        for start, ends in CHARGE_TRANSITIONS.items()
        for end in sorted(ends)
    ]
    last = [f"    {state} --> [*]" for state, ends in CHARGE_TRANSITIONS.items() if not ends]
    holding = ", ".join(f"`{state}`" for state in HOLDING_STATES)
    return markdown_page(
        "The states of a charge",
        f"The table is `TRANSITIONS` in `proxyapi/models/charge.py`. {holding} reserve credits.",
        "\n".join(["```mermaid", "stateDiagram-v2", "    [*] --> draft", *arrows, *last, "```"]),
    )


def endpoints_page() -> str:
    rows = [
        (
            f"`{row.name}`",
            f"{row.method} `{row.path}`" + ("" if row.method_documented else " (method assumed)"),
            "yes" if row.charging else "",
            row.retry,
            "" if row.evidence == "none" else row.evidence,
            f"{row.timeout:g} s",
        )
        for row in list_operations()
    ]
    heads = ("name", "endpoint", "charges", "repeating", "proof of a lost answer", "waits")
    return markdown_page(
        "What is ever sent to the service",
        f"{len(rows)} rows of `proxyapi/operations/table.py`. Nothing else leaves the portal.",
        markdown_table(heads, rows),
    )


def evidence_page() -> str:
    rows = [
        (
            f"`{row.name}`",
            ""
            if row.is_charged_create and row.evidence == "ledger"
            else separate_evidence_read(row) or "itself",
            EVIDENCE_DESCRIPTIONS[row.evidence],
            "kept" if row.keeps_result else "",
            "lost: an orphan" if row.is_charged_create else "",
        )
        for row in list_operations()
        if row.charging
    ]
    heads = ("operation", "read before and after", "proves it", "its answer", "its id")
    lead = (
        "What becomes of a charge whose answer got lost: `proxyapi/charges/evidence.py`, and what "
        "differs between kinds in `proxyapi/kinds/`. Its cost is always its debit's."
    )
    return markdown_page("What proves a charge", lead, markdown_table(heads, rows))


def separate_evidence_read(row: Operation) -> str:
    """The operation that reads the evidence, if it is not the read of the charge's own resource;
    the ledger is always read."""
    is_own = row.evidence == "ledger" or row.evidence not in EVIDENCE_READS
    return "" if is_own else f"`{row.evidence_operation}`"


def list_operations() -> Iterable[Operation]:
    return OPERATIONS.values()


def roles_page() -> str:
    rows = [
        (
            role.value,
            *("yes" if permission in permissions else "" for permission in Permission),
            ROLE_DESCRIPTIONS[role],
        )
        for role, permissions in ROLE_PERMISSIONS.items()
    ]
    heads = ("role", *(permission.value.replace("_", " ") for permission in Permission), "in words")
    lead = "The table is `ROLE_PERMISSIONS` in `dashboard/shared/roles.py`."
    return markdown_page(
        "Who may do what", lead, f"{markdown_table(heads, rows)}\n\n{role_grants_section()}"
    )


def role_grants_section() -> str:
    rows = [
        (
            actor.value,
            *(", ".join(ordered_role_names(assignable_roles(actor, current))) for current in Role),
        )
        for actor in Role
        if grantable_roles(actor)
    ]
    heads = ("", *(f"a member who is {current.value}" for current in Role))
    lead = (
        "A role is given only by who has all of its permissions, and only to a member who has no "
        "permission that the giver lacks. The last owner stays owner. The owners get a notice."
    )
    return f"## Who may give which role\n\n{lead}\n\n{markdown_table(heads, rows)}"


def ordered_role_names(roles: frozenset[Role]) -> list[str]:
    """In the order of `Role`."""
    return [role.value for role in Role if role in roles]


def markdown_page(title: str, lead: str, body: str) -> str:
    return f"{GENERATED_NOTICE}\n\n# {title}\n\n{lead}\n\n{body}\n"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])
