"""Set the team's brand kit, and switch it on or off for a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, BrandKit, DraftOrigin, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from dashboard.studio.actions import NO_SETTINGS, save_draft_step
from dashboard.studio.flows import flow_of
from dashboard.studio.kept_settings.capture import fields_from_kit
from dashboard.studio.kept_settings.kept_option import KeptOption
from dashboard.studio.kept_settings.resolve import resolve_brand_kit
from proxyapi.events import EventType, publish_event
from proxyapi.models import Job, lock_draft
from proxyapi.refusals import NotReady

NO_KIT = "The team has no brand kit. An owner or admin can set one up."


@transaction.atomic
def change_brand_kit(
    *, by: Membership, options: Mapping[str, KeptOption], applies_to_new_drafts: bool
) -> BrandKit:
    """Set the options of the kit. New drafts and presets that refer to it follow; drafts keep what
    they have until it is switched on again."""
    check_permission(by, Permission.SET_BRAND_KIT)
    before = BrandKit.objects.select_for_update().filter(team=by.team).first()
    stored = {name: option.to_json() for name, option in options.items()}
    kit, _ = BrandKit.objects.update_or_create(
        team=by.team,
        defaults={
            "options": stored,
            "applies_to_new_drafts": applies_to_new_drafts,
            "changed_by": by.user,
            "changed_at": timezone.now(),
        },
    )
    record_audit_event(
        by,
        AuditAction.BRAND_KIT_CHANGE,
        by.team_id,
        before=audited_kit(before) if before else {},
        after=audited_kit(kit),
    )
    publish_event(by.team.tenant_id, EventType.PRESET, by.team_id)
    return kit


def audited_kit(kit: BrandKit) -> dict[str, Any]:
    slugs = {name: option.get("slug") for name, option in kit.options.items()}
    return {**slugs, "applies_to_new_drafts": kit.applies_to_new_drafts}


@transaction.atomic
def apply_brand_kit(*, by: Membership, job: Job) -> None:
    """Switch the kit on for a draft: its fields get the kit's values. Raises `Refusal`."""
    check_permission(by, Permission.RENDER)
    kit = BrandKit.objects.filter(team=by.team).first()
    if kit is None:
        raise NotReady(NO_KIT)
    values = resolve_brand_kit(kit.options, job.account, flow_of(job).type).settings
    if kit.options and not values:
        raise NotReady("The service offers none of the brand kit’s settings for this type now.")
    job = lock_job_with_draft(job)
    origin, _ = DraftOrigin.objects.get_or_create(job=job)
    from_kit = fields_from_kit(origin, job.chosen_settings)
    # A field that has the kit's value already goes back to what it was before the kit.
    origin.replaced_values = {
        name: origin.replaced_values.get(name)
        if name in from_kit
        else job.chosen_settings.get(name)
        for name in values
    }
    origin.uses_brand_kit, origin.kit_values = True, values
    origin.save(update_fields=["uses_brand_kit", "kit_values", "replaced_values"])
    save_draft_step(by=by, job=job, changes=values)


def lock_job_with_draft(job: Job) -> Job:
    """Return the job and its draft as they are now, locked; raises `NotReady` without a draft."""
    job = Job.objects.select_for_update(of=("self",)).select_related("account").get(pk=job.pk)
    if lock_draft(job) is None:
        raise NotReady(NO_SETTINGS)
    return job


@transaction.atomic
def remove_brand_kit(*, by: Membership, job: Job) -> None:
    """Switch the kit off: the fields that still have its values go back to those that it replaced.

    A field without an earlier value is emptied; if the service has the kit's value already, which
    it keeps, the value stays as the draft's own.
    """
    check_permission(by, Permission.RENDER)
    job = lock_job_with_draft(job)
    origin = DraftOrigin.objects.filter(job=job).first()
    if origin is None or not origin.uses_brand_kit:
        return
    restored: dict[str, Any] = {}
    removals: list[str] = []
    for name in fields_from_kit(origin, job.chosen_settings):
        earlier = origin.replaced_values.get(name)
        if earlier not in (None, ""):
            restored[name] = earlier
        elif name not in job.draft.sent_settings:
            removals.append(name)
    origin.uses_brand_kit, origin.kit_values, origin.replaced_values = False, {}, {}
    origin.save(update_fields=["uses_brand_kit", "kit_values", "replaced_values"])
    save_draft_step(by=by, job=job, changes=restored, removals=removals)
