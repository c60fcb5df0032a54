"""Change the engine, the format, the sound or the title of a storyboard, and undo a change. Free:
nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from dashboard.models import AuditAction, Membership
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.storyboards.scene_states import load_scene_rows
from dashboard.shared.text_validation import clean_line
from dashboard.storyboards.actions.durations import (
    DurationChange,
    restore_durations,
    save_durations,
)
from dashboard.storyboards.actions.editing import lock_editable, publish_edit
from dashboard.storyboards.readiness.setting_change import (
    SETTING_COLUMNS,
    SettingChange,
    build_setting_change,
    settings_version,
)
from proxyapi.models import Storyboard
from proxyapi.refusals import NotReady, StaleData

CHANGED_MEANWHILE = (
    "The storyboard was changed since this was shown. Nothing was changed now. Review it first."
)
UNDONE_ELSEWHERE = "The settings were changed again since. Nothing was undone."
TITLE_MISSING = "Enter a title."
MAX_TITLE_LENGTH = 200


@dataclass(frozen=True, slots=True)
class AppliedSettings:
    """What was changed, for a sentence and to undo it: columns before and after."""

    change: SettingChange
    before: Mapping[str, str]
    after: Mapping[str, str]
    durations: tuple[DurationChange, ...]


@transaction.atomic
def apply_settings(
    *,
    by: Membership,
    storyboard: Storyboard,
    wanted: Mapping[str, str],
    durations: Mapping[str, int] | None = None,
    version: str | None = None,
    sets_durations: bool = False,
) -> AppliedSettings | None:
    """Apply what was picked, with the settings and durations that fit it, together or not at all.

    Without a `version` it is applied only if it breaks nothing; None is returned otherwise. With
    one, raises `StaleData` if the storyboard is not as it was shown. Raises `Refusal`.
    """
    storyboard = lock_editable(by, storyboard)
    rows = load_scene_rows(storyboard)
    if version is not None and version != settings_version(storyboard, rows):
        raise StaleData(CHANGED_MEANWHILE)
    change = build_setting_change(storyboard, rows, wanted, durations)
    if version is None and change.breaks_something:
        return None
    before = {name: getattr(storyboard, name) for name in SETTING_COLUMNS}
    changed = {name: value for name, value in change.settings.items() if value != before[name]}
    if changed:
        Storyboard.objects.filter(pk=storyboard.pk).update(**changed)
    fits = change.scenes if sets_durations else ()
    changes = [
        DurationChange(fit.row.scene.pk, fit.row.scene.duration, fit.seconds) for fit in fits
    ]
    done = tuple(save_durations(by, storyboard, changes))
    old = {name: before[name] for name in changed}
    finish_settings(by, storyboard, old, changed)
    return AppliedSettings(change, old, changed, done)


@transaction.atomic
def undo_settings(
    *,
    by: Membership,
    storyboard: Storyboard,
    before: Mapping[str, str],
    after: Mapping[str, str],
    durations: list[DurationChange],
) -> None:
    """Put the settings back, and the durations that no one changed since. Raises `StaleData` if a
    setting was changed again, and what `lock_editable` raises."""
    storyboard = lock_editable(by, storyboard)
    known = {name: value for name, value in before.items() if name in SETTING_COLUMNS}
    if any(getattr(storyboard, name) != after.get(name) for name in known):
        raise StaleData(UNDONE_ELSEWHERE)
    if known:
        Storyboard.objects.filter(pk=storyboard.pk).update(**known)
    restore_durations(by=by, storyboard=storyboard, changes=durations)
    finish_settings(by, storyboard, after, known)


def finish_settings(
    by: Membership, storyboard: Storyboard, before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    if after:
        record_audit_event(
            by, AuditAction.DRAFT_SAVE, storyboard.pk, before=dict(before), after=dict(after)
        )
        publish_edit(storyboard)


@transaction.atomic
def set_title(*, by: Membership, storyboard: Storyboard, title: str) -> None:
    """Rename the storyboard. Raises `Refusal`."""
    storyboard = lock_editable(by, storyboard)
    words = clean_line(title, max_length=MAX_TITLE_LENGTH, field="title")
    if not words:
        raise NotReady(TITLE_MISSING, "title")
    if words != storyboard.title:
        Storyboard.objects.filter(pk=storyboard.pk).update(title=words, edited_at=timezone.now())
        finish_settings(by, storyboard, {"title": storyboard.title}, {"title": words})
