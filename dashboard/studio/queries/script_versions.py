"""Scripts that a draft had before, and can have again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.models import User
from dashboard.studio.queries.script import ScriptLength, script_length
from proxyapi.models import Job, ScriptOrigin, ScriptVersion

EXCERPT_CHARS = 240
ORIGIN_LABELS = {
    ScriptOrigin.SERVICE: "Written by the service",
    ScriptOrigin.PAGE: "Written from the page",
    ScriptOrigin.MEMBER: "Own text",
}


@dataclass(frozen=True, slots=True)
class EarlierScript:
    """`cost` is in credits: None for own text, and while the ledger does not show it."""

    version_id: int
    label: str
    member_name: str
    kept_at: datetime
    cost: Decimal | None
    length: ScriptLength
    excerpt: str


def load_earlier_scripts(job: Job) -> tuple[EarlierScript, ...]:
    """Return the kept scripts except the current one, newest first; one query. Scripts of the same
    text are one row, with the charge that came first."""
    rows: dict[str, EarlierScript] = {}
    versions = job.script_versions.select_related("charge", "member").newest_first()
    for version in versions:
        if version.text != job.draft.settings.get("script"):
            rows[version.text] = build_earlier_script(version)
    return tuple(rows.values())


def build_earlier_script(version: ScriptVersion) -> EarlierScript:
    text = " ".join(version.text.split())
    member: User | None = version.member
    return EarlierScript(
        version_id=version.pk,
        label=ORIGIN_LABELS[ScriptOrigin(version.origin)],
        member_name=member.first_name if member else "",
        kept_at=version.created_at,
        cost=version.charge.cost if version.charge else None,
        length=script_length(version.text),
        excerpt=text if len(text) <= EXCERPT_CHARS else f"{text[:EXCERPT_CHARS]}…",
    )
