"""Save, use, rename, copy, change and remove presets."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Value
from django.db.models.functions import Lower
from django.utils import timezone

from dashboard.models import (
    MAX_PRESET_NAME_CHARS,
    AuditAction,
    Membership,
    Preset,
    Team,
)
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.studio.actions import NO_SETTINGS, start_draft
from dashboard.studio.flows import FLOWS
from dashboard.studio.kept_settings.capture import KeepableSettings, capture_settings
from dashboard.studio.kept_settings.groups import FORMAT_FIELD, SCRIPT_GROUP
from dashboard.studio.kept_settings.kept_option import KeptOption
from dashboard.studio.queries.script import last_script_request
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job
from proxyapi.refusals import BY_OTHERS, NotReady, Refusal, StaleData

MAX_PRESETS_PER_TEAM = 200
TOO_MANY = f"A team can have {MAX_PRESETS_PER_TEAM} presets. Delete one first."
OPTIONS_NOT_LOADED = (
    "The service’s options are not loaded yet. They are refreshed every few minutes. Nothing was "
    "created."
)
CHANGED_MEANWHILE = f"This preset was changed {BY_OTHERS}. The current values are below."


class PresetNameTaken(Refusal):
    """Another preset has this name."""

    def __init__(self, taken: Preset) -> None:
        super().__init__(f"“{taken.name}” exists. Replace it, or use another name.", "name")
        self.taken = taken


@transaction.atomic
def save_preset(
    *, by: Membership, job: Job, name: str, groups: Collection[str], replaces: UUID | None = None
) -> Preset:
    """Keep the settings of a draft or a video: its type and format, and these groups.

    `replaces` is the preset whose replacement the member confirmed. Raises `PresetNameTaken` if
    another one has the name.
    """
    check_permission(by, Permission.RENDER)
    if job.draft_or_none is None:
        raise NotReady(NO_SETTINGS)
    lock_presets(by.team)
    content = preset_content(capture_settings(job, last_script_request(job)), groups)
    content |= {"missing": {}, "compared_at": timezone.now(), "picture_of": job}
    taken = preset_with_name(by.team, name)
    if taken is not None and taken.pk != replaces:
        raise PresetNameTaken(taken)
    if taken is not None:
        before = audited_content(taken)
        update_preset(taken, **content)
        record_audit_event(
            by, AuditAction.PRESET_CHANGE, taken.pk, before=before, after=audited_content(taken)
        )
        return taken
    return add_preset(by, name=name, **content)


def lock_presets(team: Team) -> None:
    """Let one change of the presets' names happen at a time, until the transaction ends."""
    Team.objects.select_for_update(no_key=True).get(pk=team.pk)


def preset_with_name(team: Team, name: str) -> Preset | None:
    """Return the team's preset with this name, as the database compares names."""
    presets = team.presets.annotate(lower_name=Lower("name"))
    return presets.filter(lower_name=Lower(Value(name))).first()


def preset_content(kept: KeepableSettings, groups: Collection[str]) -> dict[str, Any]:
    """Return the fields of a preset that keeps these groups."""
    options: dict[str, KeptOption] = {FORMAT_FIELD: kept.format} if kept.format else {}
    values: dict[str, Any] = {}
    script_request: dict[str, Any] = {}
    follows_kit = False
    for one in kept.groups:
        if one.group.name not in groups:
            continue
        if one.group is SCRIPT_GROUP:
            script_request = one.values
            continue
        options |= one.options
        values |= one.values
        follows_kit = follows_kit or one.follows_kit
    return {
        "type": kept.type,
        "options": {name: option.to_json() for name, option in options.items()},
        "values": values,
        "script_request": script_request,
        "uses_brand_kit": follows_kit,
    }


def add_preset(by: Membership, **fields: Any) -> Preset:
    """Create a preset. The caller has locked the presets of the team."""
    if by.team.presets.count() >= MAX_PRESETS_PER_TEAM:
        raise Refusal(TOO_MANY)
    preset = Preset.objects.create(team=by.team, created_by=by.user, **fields)
    record_audit_event(by, AuditAction.PRESET_ADD, preset.pk, after=audited_content(preset))
    publish_event(by.team.tenant_id, EventType.PRESET, by.team_id)
    return preset


def update_preset(preset: Preset, **fields: Any) -> None:
    for name, value in fields.items():
        setattr(preset, name, value)
    preset.save(update_fields=fields.keys())
    publish_event(preset.team.tenant_id, EventType.PRESET, preset.team_id)


def audited_content(preset: Preset) -> dict[str, Any]:
    """Return name, type and the slugs of the kept options."""
    slugs = {name: option.get("slug") for name, option in preset.options.items()}
    return {"name": preset.name, "type": preset.type, "options": slugs}


@transaction.atomic
def use_preset(*, by: Membership, preset: Preset) -> Job:
    """Start a draft with a preset's settings. What the member's account does not offer is left
    out."""
    check_permission(by, Permission.RENDER)
    if preset.type not in FLOWS:
        raise NotReady("The studio does not make videos of this type.")
    if not require_member_token(by).account.options:
        raise NotReady(OPTIONS_NOT_LOADED)
    title = f"{preset.name}, new video"
    job = start_draft(by=by, title=title, chosen={"type": preset.type}, preset=preset)
    publish_event(by.team.tenant_id, EventType.PRESET, by.team_id)
    return job


@transaction.atomic
def rename_preset(*, by: Membership, preset: Preset, name: str, seen: str) -> None:
    """Give a preset another name. `seen` is the name that the form was built from; raises
    `StaleData` if it has another one now, and `Refusal` if the new one is taken."""
    check_permission(by, Permission.RENDER)
    lock_presets(by.team)
    row, taken = locked_preset(preset), preset_with_name(by.team, name)
    if row.name not in (seen, name):
        raise StaleData(
            f"It was renamed to “{row.name}” {BY_OTHERS}. Save again to use your name.",
            "name",
        )
    if taken is not None and taken.pk != row.pk:
        raise Refusal(f"“{taken.name}” exists. Use another name.", "name")
    before = row.name
    update_preset(row, name=name)
    record_audit_event(
        by, AuditAction.PRESET_CHANGE, row.pk, before={"name": before}, after={"name": name}
    )
    preset.name = name


def locked_preset(preset: Preset) -> Preset:
    """Return the row as it is now, locked; raises `Refusal` if it was deleted."""
    row = Preset.objects.select_for_update().filter(pk=preset.pk).first()
    if row is None:
        raise Refusal(f"This preset was deleted {BY_OTHERS}.")
    return row


@transaction.atomic
def duplicate_preset(*, by: Membership, preset: Preset) -> Preset:
    """Add a copy of a preset, named after it."""
    check_permission(by, Permission.RENDER)
    lock_presets(by.team)
    names = {name.lower() for name in by.team.presets.values_list("name", flat=True)}
    fields = ("type", "options", "values", "script_request", "uses_brand_kit", "missing")
    content = {name: getattr(preset, name) for name in fields}
    return add_preset(
        by,
        name=name_of_copy(preset.name, names),
        compared_at=preset.compared_at,
        picture_of=preset.picture_of,
        **content,
    )


def name_of_copy(name: str, taken: Collection[str]) -> str:
    """Return `Sea series copy`, `Sea series copy 2` and so on; the name is cut if it is too long.
    `taken` are names in lower case."""
    for number in range(1, MAX_PRESETS_PER_TEAM + 2):
        suffix = " copy" if number == 1 else f" copy {number}"
        copy = f"{name[: MAX_PRESET_NAME_CHARS - len(suffix)].rstrip()}{suffix}"
        if copy.lower() not in taken:
            return copy
    raise Refusal(TOO_MANY)


@transaction.atomic
def change_preset(
    *,
    by: Membership,
    preset: Preset,
    options: Mapping[str, KeptOption | None],
    dropped: Collection[str],
    seen: str,
) -> None:
    """Keep other options (None: no longer keep), and drop these kept values and groups.

    `seen` is the version that the form was built from (`preset_version`); raises `StaleData`.
    """
    check_permission(by, Permission.RENDER)
    row = locked_preset(preset)
    if preset_version(row) != seen:
        raise StaleData(CHANGED_MEANWHILE)
    before = audited_content(row)
    kept = {name: option for name, option in row.options.items() if name not in options}
    kept |= {name: option.to_json() for name, option in options.items() if option}
    update_preset(
        row,
        options=kept,
        missing={name: near for name, near in row.missing.items() if name not in options},
        values={name: value for name, value in row.values.items() if name not in dropped},
        script_request={} if "script" in dropped else row.script_request,
        uses_brand_kit=row.uses_brand_kit and "brand_kit" not in dropped,
    )
    record_audit_event(
        by, AuditAction.PRESET_CHANGE, row.pk, before=before, after=audited_content(row)
    )


def preset_version(preset: Preset) -> str:
    """Return a text that differs when the kept options differ."""
    slugs = sorted((name, str(option.get("slug"))) for name, option in preset.options.items())
    return "/".join(f"{name}={slug}" for name, slug in slugs)


@transaction.atomic
def replace_missing_option(*, by: Membership, preset: Preset, field: str, slug: str) -> KeptOption:
    """Take the suggested replacement of an option that is gone; raises `StaleData` if it is not the
    suggested one any more."""
    check_permission(by, Permission.RENDER)
    row = locked_preset(preset)
    nearest = row.missing.get(field)
    if not nearest or nearest.get("slug") != slug:
        raise StaleData(CHANGED_MEANWHILE)
    before, option = audited_content(row), KeptOption.from_json(nearest)
    update_preset(
        row,
        options={**row.options, field: option.to_json()},
        missing={name: near for name, near in row.missing.items() if name != field},
    )
    record_audit_event(
        by, AuditAction.PRESET_CHANGE, row.pk, before=before, after=audited_content(row)
    )
    return option


@transaction.atomic
def delete_preset(*, by: Membership, preset: Preset) -> None:
    """Delete a preset; drafts and videos made with it stay as they are."""
    check_permission(by, Permission.RENDER)
    preset_id, before = preset.pk, audited_content(preset)
    preset.delete()
    record_audit_event(by, AuditAction.PRESET_REMOVE, preset_id, before=before)
    publish_event(by.team.tenant_id, EventType.PRESET, by.team_id)


def set_default_preset(*, by: Membership, preset: Preset | None) -> None:
    """Let the member's new drafts start with a preset, or with none."""
    check_permission(by, Permission.RENDER)
    by.default_preset = preset
    by.save(update_fields=["default_preset"])
