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
    ExecutionEvidence.STATUS: "the status or a part differs from before; a debit alone if the "
    "status was already final",
    ExecutionEvidence.SCRIPT: "the script differs from before",
    ExecutionEvidence.LEDGER: "a debit alone",
    ExecutionEvidence.IDEAS: "new ideas in the list; a debit alone if they were searched before",
    ExecutionEvidence.SLOTS: "one free slot fewer; a debit alone if none was free before",
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
    heads = ("webhook type", "sent when", "threshold", "default rule", "checked every")
    lead = "Each kind is a module of `dashboard/alerts/kinds/` and a value of `AlertKind`."
    return markdown_page("Alert kinds", lead, markdown_table(heads, rows))


def charge_states_page() -> str:
    arrows = [
        f"    {start} --> {end}"
        for start, ends in CHARGE_TRANSITIONS.items()
        for end in sorted(ends)
    ]
    last = [f"    {state} --> [*]" for state, ends in CHARGE_TRANSITIONS.items() if not ends]
    holding = ", ".join(f"`{state}`" for state in HOLDING_STATES)
    return markdown_page(
        "States of a charge",
        f"`CHARGE_TRANSITIONS` in `proxyapi/models/charge.py`. {holding} reserve credits.",
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
    heads = ("name", "endpoint", "charges", "retry", "evidence for a lost answer", "timeout")
    return markdown_page(
        "Upstream endpoints",
        f"{len(rows)} rows of `proxyapi/operations/table.py`. The portal sends no other request.",
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
            "unidentified" if row.is_charged_create else "",
        )
        for row in list_operations()
        if row.charging
    ]
    heads = ("operation", "read before and after", "proof", "answer", "id after a lost answer")
    lead = (
        "How a charge whose answer was lost is settled (`proxyapi/charges/evidence.py`; "
        "differences between kinds are in `proxyapi/kinds/`). Its cost is always that of its debit."
    )
    return markdown_page("Evidence for charges", lead, markdown_table(heads, rows))


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
    heads = (
        "role",
        *(permission.value.replace("_", " ") for permission in Permission),
        "description",
    )
    lead = "`ROLE_PERMISSIONS` in `dashboard/shared/roles.py`."
    return markdown_page(
        "Permissions of roles", lead, f"{markdown_table(heads, rows)}\n\n{role_grants_section()}"
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
    heads = ("", *(f"to a member who is {current.value}" for current in Role))
    lead = (
        "A member can give a role only if they have all of its permissions, and only to a member "
        "who has no permission that they lack. The last owner stays owner. All owners are notified."
    )
    return f"## Roles that a role can give\n\n{lead}\n\n{markdown_table(heads, rows)}"


def ordered_role_names(roles: frozenset[Role]) -> list[str]:
    """In the order of `Role`."""
    return [role.value for role in Role if role in roles]


def markdown_page(title: str, lead: str, body: str) -> str:
    return f"{GENERATED_NOTICE}\n\n# {title}\n\n{lead}\n\n{body}\n"


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *rows])
