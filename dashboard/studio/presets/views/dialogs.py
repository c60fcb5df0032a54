"""Dialogs of presets: save, edit what is kept, delete."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRefresh

from dashboard.shared.access import check_permission, fetch_job, fetch_preset, has_permission
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio.kept_settings.team_options import load_team_options
from dashboard.studio.presets.actions import presets as actions
from dashboard.studio.presets.forms import PresetSettingsForm, SavePresetForm
from dashboard.studio.presets.queries import (
    build_keep_rows,
    load_preset_sources,
    load_presets_page,
    parse_preset_filters,
)
from dashboard.studio.presets.views.presets import INVALID_FORM_STATUS, PAGE_TEMPLATE
from proxyapi.refusals import Refusal

SOURCES_TEMPLATE = "studio/presets/_sources.html"
SAVE_TEMPLATE = "studio/presets/_save.html"
SETTINGS_TEMPLATE = "studio/presets/_settings.html"
REMOVAL_TEMPLATE = "studio/presets/_removal.html"


def render_preset_dialog(
    request: TeamRequest, dialog: str, context: dict[str, Any], *, is_invalid: bool = False
) -> HttpResponse:
    """The dialog alone for htmx; without scripts the list with the dialog open."""
    if request.htmx:
        return render(request, dialog, {**context, "fragment": True})
    page = load_presets_page(request.membership, parse_preset_filters({}))
    status = INVALID_FORM_STATUS if is_invalid else 200
    return render(
        request, PAGE_TEMPLATE, {**context, "page": page, "dialog": dialog}, status=status
    )


def return_to_page(request: TeamRequest) -> HttpResponse:
    """Show the page of the dialog again; without scripts the list."""
    return HttpResponseClientRefresh() if request.htmx else redirect("presets")


@require_safe
def list_sources(request: TeamRequest) -> HttpResponse:
    """The drafts and videos from which a preset can be saved."""
    check_permission(request.membership, Permission.RENDER)
    context = {"sources": load_preset_sources(request.membership)}
    return render_preset_dialog(request, SOURCES_TEMPLATE, context)


@allow_get_or_post
def save_from_job(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Save the settings of a draft or a video as a preset."""
    job = fetch_job(request, job_id, Permission.RENDER)
    form = SavePresetForm(request.POST if request.method == "POST" else None, title=job.title)
    taken, refusal = None, ""
    if request.method == "POST" and form.is_valid():
        try:
            preset = actions.save_preset(
                by=request.membership,
                job=job,
                name=form.cleaned_data["name"],
                groups=form.cleaned_data["keep"],
                replaces=form.cleaned_data["replaces"],
            )
        except actions.PresetNameTaken as refused:
            taken = refused.taken
            form.add_error("name", refused.sentence)
        except Refusal as refused:
            refusal = refused.sentence
        else:
            messages.success(request, f"“{preset.name}” was saved.")
            return return_to_page(request)
    rows = build_keep_rows(job, form.checked) if job.draft_or_none else ()
    context = {"job": job, "form": form, "rows": rows, "taken": taken, "refusal": refusal}
    is_invalid = bool(form.errors or refusal)
    return render_preset_dialog(request, SAVE_TEMPLATE, context, is_invalid=is_invalid)


@allow_get_or_post
def edit_preset(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    """What a preset keeps; makers change it. `field`: choose another option for this one alone."""
    posted = request.method == "POST"
    preset = fetch_preset(request, preset_id, Permission.RENDER if posted else Permission.VIEW)
    options, only = (
        load_team_options(request.team.tenant, timezone.now()),
        request.GET.get("field", ""),
    )
    form = PresetSettingsForm(preset, options, request.POST if posted else None, only=only)
    if posted and form.is_valid():
        try:
            actions.change_preset(
                by=request.membership,
                preset=preset,
                options=form.changed_options(),
                dropped=form.dropped(),
                seen=form.cleaned_data["seen"],
            )
        except Refusal as refusal:
            preset.refresh_from_db()
            form = PresetSettingsForm(preset, options, only=only)
            return render_preset_dialog(
                request,
                SETTINGS_TEMPLATE,
                {"preset": preset, "form": form, "may_edit": True, "refusal": refusal.sentence},
                is_invalid=True,
            )
        messages.success(request, f"“{preset.name}” was changed.")
        return return_to_page(request)
    may_edit = has_permission(request.membership, Permission.RENDER)
    context = {"preset": preset, "form": form, "may_edit": may_edit}
    return render_preset_dialog(request, SETTINGS_TEMPLATE, context, is_invalid=bool(form.errors))


@allow_get_or_post
def remove(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    if request.method != "POST":
        return render_preset_dialog(request, REMOVAL_TEMPLATE, {"preset": preset})
    name = preset.name
    actions.delete_preset(by=request.membership, preset=preset)
    messages.success(request, f"“{name}” was deleted.")
    return return_to_page(request)
