"""The dialog that saves a preset: what can be kept of a draft or a video, with its present
values."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from dashboard.models import Membership
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from dashboard.studio.kept_settings.capture import (
    KeepableGroup,
    KeepableSettings,
    capture_settings,
)
from dashboard.studio.kept_settings.groups import setting_label
from dashboard.studio.queries.script import last_script_request, spoken_duration_text
from proxyapi.models import Job, JobKind, JobState

MAX_LISTED_SOURCES = 8
UNCHECKED_GROUPS = ("character",)  # a person in one video is rarely one of a series


@dataclass(frozen=True, slots=True)
class KeepRow:
    """A line of the check list. `fixed`: it is always kept."""

    name: str
    label: str
    value: str
    note: str = ""
    checked: bool = True
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class PresetSource:
    """A draft or a video from which a preset can be saved."""

    job_id: UUID
    title: str
    note: str


def build_keep_rows(job: Job, checked: Collection[str] | None) -> tuple[KeepRow, ...]:
    """Return the check list of a job with a draft; `checked` are the names of the checked lines,
    None before the member chose."""
    kept = capture_settings(job, last_script_request(job))
    first = KeepRow("type", "Type and format", type_and_format(kept), fixed=True)
    rows = [build_keep_row(group, checked) for group in kept.groups]
    gone = [
        KeepRow(
            "",
            setting_label(name),
            "No longer offered by the service",
            "cannot be kept",
            False,
            True,
        )
        for name in kept.gone
    ]
    return (first, *rows, *gone)


def type_and_format(kept: KeepableSettings) -> str:
    label = FACELESS_TYPE_LABELS.get(kept.type, kept.type)
    return ", ".join(filter(None, (label, kept.format.slug if kept.format else "")))


def build_keep_row(kept: KeepableGroup, checked: Collection[str] | None) -> KeepRow:
    name = kept.group.name
    is_checked = name not in UNCHECKED_GROUPS if checked is None else name in checked
    by_hand = ", ".join(option.name for option in kept.options.values())
    if kept.follows_kit:
        value = f"From the brand kit, but {by_hand}" if by_hand else "From the brand kit"
        return KeepRow(name, kept.group.label, value, "follows the kit when it changes", is_checked)
    if name == "script":
        return KeepRow(name, kept.group.label, script_request_text(kept.values), "", is_checked)
    values = [str(value) for value in kept.values.values()]
    return KeepRow(
        name, kept.group.label, ", ".join(filter(None, (by_hand, *values))), "", is_checked
    )


def script_request_text(request: dict[str, Any]) -> str:
    """Return a text such as `60 s, Documentary, Calm, English`."""
    duration = request.get("duration")
    length = spoken_duration_text(duration) if isinstance(duration, int) else ""
    words = (str(request.get(name) or "") for name in ("style", "tone", "language"))
    return ", ".join(filter(None, (length, *words)))


def load_preset_sources(reader: Membership) -> tuple[PresetSource, ...]:
    """Return the last drafts and videos of the team that have settings, own ones first. One
    query."""
    jobs = (
        Job.objects.visible()
        .filter(tenant=reader.team.tenant_id, kind=JobKind.FACELESS, draft__isnull=False)
        .select_related("member", "draft")
        .order_by("-draft__edited_at")[: 3 * MAX_LISTED_SOURCES]
    )
    own_first = sorted(jobs, key=lambda job: job.member_id != reader.user_id)
    return tuple(build_source(job) for job in own_first[:MAX_LISTED_SOURCES])


def build_source(job: Job) -> PresetSource:
    label = FACELESS_TYPE_LABELS.get(str(job.chosen_settings.get("type")), "")
    state = "draft" if job.state == JobState.DRAFT else "video"
    ratio = str(job.chosen_settings.get("aspect_ratio") or "")
    note = ", ".join(filter(None, (label, ratio, state, job.member.first_name)))
    return PresetSource(job.pk, job.title, note)
