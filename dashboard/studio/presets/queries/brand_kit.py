"""The brand kit of the team, and its line in the steps of a draft."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from dashboard.models import BrandKit, Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import account_options
from dashboard.studio.flows import StepSlug, flow_of
from dashboard.studio.kept_settings.capture import draft_origin, fields_from_kit
from dashboard.studio.kept_settings.groups import BRAND_KIT_FIELDS, setting_label
from dashboard.studio.kept_settings.kept_option import kept_options
from dashboard.studio.kept_settings.resolve import resolve_brand_kit
from proxyapi.models import Job

KIT_STEPS = (StepSlug.VISUALS, StepSlug.CAPTIONS)


@dataclass(frozen=True, slots=True)
class KitField:
    """A setting of the kit in a draft: from the kit, or changed by hand."""

    label: str
    value: str
    from_kit: bool


@dataclass(frozen=True, slots=True)
class DraftKit:
    """The brand kit as a draft uses it. `summary`: what the kit has. `changed`: the kit has other
    values now than those that it set here."""

    job_id: UUID
    step: str
    team_name: str
    exists: bool
    summary: str
    is_on: bool
    fields: tuple[KitField, ...]
    left_out: tuple[str, ...]
    changed: bool
    applies_to_new_drafts: bool
    may_edit: bool
    may_set_kit: bool


def load_draft_kit(job: Job, reader: Membership, step: str) -> DraftKit | None:
    """Return the kit's line for a step that has settings of it, else None. No query."""
    if step not in KIT_STEPS or not offers_kit_fields(job):
        return None
    kit: BrandKit | None = getattr(reader.team, "brand_kit", None)  # read with the membership
    if kit is None and not has_permission(reader, Permission.SET_BRAND_KIT):
        return None
    origin, chosen = draft_origin(job), job.chosen_settings
    resolved = resolve_brand_kit(kit.options, job.account, flow_of(job).type) if kit else None
    is_on = origin is not None and origin.uses_brand_kit
    kit_values = origin.kit_values if origin and is_on else {}
    return DraftKit(
        job_id=job.pk,
        step=step,
        team_name=reader.team.name,
        exists=kit is not None,
        summary=kit_summary(kit) if kit else "",
        is_on=is_on,
        fields=build_kit_fields(job, kit_values, fields_from_kit(origin, chosen)),
        left_out=tuple(
            f"{setting_label(name)} “{gone}”" for name, gone in resolved.left_out.items()
        )
        if resolved
        else (),
        changed=bool(resolved) and is_on and kit_values != (resolved.settings if resolved else {}),
        applies_to_new_drafts=kit.applies_to_new_drafts if kit else False,
        may_edit=has_permission(reader, Permission.RENDER),
        may_set_kit=has_permission(reader, Permission.SET_BRAND_KIT),
    )


def offers_kit_fields(job: Job) -> bool:
    return bool(flow_of(job).settings.keys() & set(BRAND_KIT_FIELDS))


def build_kit_fields(
    job: Job, kit_values: dict[str, object], from_kit: set[str]
) -> tuple[KitField, ...]:
    """Return each setting that the kit set, with its present value."""
    options, chosen = account_options(job.account), job.chosen_settings
    fields = []
    for name in kit_values:
        choice = options.selected_choice(name, chosen)
        value = choice.name if choice else str(chosen.get(name) or "Standard")
        fields.append(KitField(setting_label(name), value, name in from_kit))
    return tuple(fields)


def kit_summary(kit: BrandKit) -> str:
    """Return a text such as `Font Condensed, caption effect Pop, watermark Bottom right`."""
    options = kept_options(kit.options)
    parts = [
        f"{setting_label(name)} {options[name].name}"
        for name in BRAND_KIT_FIELDS
        if name in options
    ]
    return ", ".join(
        part if index == 0 else part[:1].lower() + part[1:] for index, part in enumerate(parts)
    )
