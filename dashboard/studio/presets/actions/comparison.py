"""The comparison of presets with what the service offers: every day at six, and when a member asks.

It reads the stored options of the team's accounts and sends nothing.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from dashboard.models import Membership, Preset, Team
from dashboard.shared.access import check_permission
from dashboard.shared.roles import Permission
from dashboard.studio.kept_settings.kept_option import KeptOption, kept_options
from dashboard.studio.kept_settings.replacements import find_replacement
from dashboard.studio.kept_settings.team_options import (
    TeamOptions,
    last_comparison_time,
    load_team_options,
)
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import NotReady

NO_OPTIONS = (
    "The service’s options were not read within the last hour, so nothing was compared. Try again "
    "when the service responds."
)


def compare_due_presets(team_id: UUID) -> None:
    """Compare the presets of a team if they were not compared since the last six o'clock."""
    team, now = Team.objects.select_related("tenant").get(pk=team_id), timezone.now()
    if team.presets.filter(compared_at__lt=last_comparison_time(team.tenant, now)).exists():
        compare_presets(team, now)


def compare_now(by: Membership) -> None:
    """Compare all presets of the team. Raises `NotReady` without options."""
    check_permission(by, Permission.RENDER)
    if not compare_presets(by.team, timezone.now()):
        raise NotReady(NO_OPTIONS)


def compare_presets(team: Team, now: datetime) -> bool:
    """Look up every kept option in what the accounts of the team offer; store what is missing, with
    the nearest replacement. Without options nothing is decided, and it returns False."""
    options = load_team_options(team.tenant, now)
    if not options:
        return False
    uses: dict[str, Counter[str]] = {}
    for preset in team.presets.all():
        missing = find_missing_options(preset, options, uses)
        store_comparison(preset, missing, now)
    publish_event(team.tenant_id, EventType.PRESET, team.pk)
    return True


def find_missing_options(
    preset: Preset, options: TeamOptions, uses: dict[str, Counter[str]]
) -> dict[str, Any]:
    """Return, for each field whose option is gone, the replacement as it is stored, or None.

    `uses` is filled as needed, so that several presets count the drafts once.
    """
    missing: dict[str, Any] = {}
    for field, kept in kept_options(preset.options).items():
        if options.is_offered(field, kept) or is_undecided(kept, options):
            continue
        uses.setdefault(field, options.count_uses(field))
        nearest = find_replacement(field, kept, options.offered_options(field), uses[field])
        missing[field] = {**nearest.option.to_json(), "rule": nearest.rule} if nearest else None
    return missing


def is_undecided(kept: KeptOption, options: TeamOptions) -> bool:
    """True for a voice clone of an account of the same upstream whose options were not read."""
    if not kept.account:
        return False
    environments = {account.environment for account, _ in options.accounts}
    is_of_upstream = any(kept.account.startswith(f"{one}:") for one in environments)
    return is_of_upstream and kept.account not in {one.bucket for one, _ in options.accounts}


def store_comparison(preset: Preset, missing: dict[str, Any], now: datetime) -> None:
    """Store it unless the kept options were changed meanwhile."""
    with transaction.atomic():
        row = Preset.objects.select_for_update().filter(pk=preset.pk).first()
        if row is not None and row.options == preset.options:
            row.missing, row.compared_at = missing, now
            row.save(update_fields=["missing", "compared_at"])
