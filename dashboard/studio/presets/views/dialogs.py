"""Dialogs of presets: save, edit what is kept, delete."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.utils import timezone
from django_htmx.http import HttpResponseClientRefresh

from dashboard.models import Preset
from dashboard.shared.access import check_permission, fetch_job, fetch_preset, has_permission
from dashboard.shared.dialogs import DialogView
from dashboard.shared.forms import PortalForm
from dashboard.shared.roles import Permission
from dashboard.studio.kept_settings.team_options import load_team_options
from dashboard.studio.presets.actions import presets as actions
from dashboard.studio.presets.forms import PresetSettingsForm, SavePresetForm
from dashboard.studio.presets.queries import (
    PresetFilters,
    build_keep_rows,
    load_preset_sources,
    load_presets_page,
)
from dashboard.studio.presets.views.presets import PAGE_TEMPLATE


class PresetDialog(DialogView):
    page_template, back = PAGE_TEMPLATE, "presets"

    def load_page(self) -> Mapping[str, Any]:
        return load_presets_page(self.by, PresetFilters())

    def answer_saved(self) -> HttpResponse:
        """Show the page of the dialog again, which may be a step of the studio."""
        below = self.request.htmx.current_url_abs_path
        is_own_page = below in (None, self.request.get_full_path())
        return super().answer_saved() if is_own_page else HttpResponseClientRefresh()


class ListSources(PresetDialog):
    """The drafts and videos from which a preset can be saved."""

    http_method_names = ("get", "head")
    template_name = "studio/presets/_sources.html"

    def fetch(self) -> None:
        check_permission(self.by, Permission.RENDER)

    def load_dialog(self) -> Mapping[str, Any]:
        return {"sources": load_preset_sources(self.by)}


class SavePreset(PresetDialog):
    """Save the settings of a draft or a video as a preset."""

    template_name = "studio/presets/_save.html"
    taken: Preset | None = None

    def fetch(self, job_id: UUID) -> None:
        self.job = fetch_job(self.request, job_id, Permission.RENDER)

    def build_form(self, data: Mapping[str, Any] | None = None) -> SavePresetForm:
        return SavePresetForm(data, title=self.job.title)

    def save(self, form: SavePresetForm) -> str:
        name, keep, replaces = (form.cleaned_data[key] for key in ("name", "keep", "replaces"))
        try:
            preset = actions.save_preset(
                by=self.by, job=self.job, name=name, groups=keep, replaces=replaces
            )
        except actions.PresetNameTaken as refused:
            self.taken = refused.taken
            raise
        return f"“{preset.name}” was saved."

    def load_dialog(self) -> Mapping[str, Any]:
        checked = self.request.POST.getlist("keep") if self.request.method == "POST" else None
        rows = build_keep_rows(self.job, checked) if self.job.draft_or_none else ()
        return {"job": self.job, "rows": rows, "taken": self.taken}


class EditPreset(PresetDialog):
    """What a preset keeps; makers change it. `field`: choose another option for this one alone."""

    template_name = "studio/presets/_settings.html"

    def fetch(self, preset_id: UUID) -> None:
        needed = Permission.RENDER if self.request.method == "POST" else Permission.VIEW
        self.preset = fetch_preset(self.request, preset_id, needed)
        self.offered = load_team_options(self.request.team.tenant, timezone.now())

    def build_form(self, data: Mapping[str, Any] | None = None) -> PresetSettingsForm:
        only = self.request.GET.get("field", "")
        return PresetSettingsForm(self.preset, self.offered, data, only=only)

    def save(self, form: PresetSettingsForm) -> str:
        actions.change_preset(
            by=self.by,
            preset=self.preset,
            options=form.changed_options(),
            dropped=form.dropped(),
            seen=form.cleaned_data["seen"],
        )
        return f"“{self.preset.name}” was changed."

    def rebuild_form(self, form: PresetSettingsForm) -> PresetSettingsForm:
        """Return the values as they are now, as the refusal says."""
        self.fetch(self.preset.pk)
        return self.build_form({field.html_name: field.value() for field in self.build_form()})

    def load_dialog(self) -> Mapping[str, Any]:
        return {"preset": self.preset, "may_edit": has_permission(self.by, Permission.RENDER)}


class DeletePreset(PresetDialog):
    template_name = "studio/presets/_removal.html"

    def fetch(self, preset_id: UUID) -> None:
        self.preset = fetch_preset(self.request, preset_id, Permission.RENDER)

    def save(self, form: PortalForm) -> str:
        actions.delete_preset(by=self.by, preset=self.preset)
        return f"“{self.preset.name}” was deleted."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"preset": self.preset}
