"""The list of presets, and what is done with one of them at a press."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from dashboard.models import Preset
from dashboard.shared.access import check_permission, fetch_preset
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.lists import render_list
from dashboard.shared.query_params import clean_text_param
from dashboard.shared.roles import Permission
from dashboard.studio.presets.actions import comparison
from dashboard.studio.presets.actions import presets as actions
from dashboard.studio.presets.forms import PresetNameForm
from dashboard.studio.presets.queries import PresetFilters, load_presets_page
from proxyapi.refusals import Refusal, StaleData

PAGE_TEMPLATE, BODY_TEMPLATE = "studio/presets/page.html", "studio/presets/_body.html"


@require_safe
@vary_on_headers("HX-Request")
def list_presets(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the list alone. `renaming` in the address is the preset whose name is a
    field."""
    return render_presets(request)


def render_presets(
    request: TeamRequest, renaming: Preset | None = None, name_form: PresetNameForm | None = None
) -> HttpResponse:
    """Render the list with the filters of the address. `name_form`: the refused new name of the
    preset `renaming`."""
    filters = PresetFilters.parse(request.GET)
    if renaming is not None:
        filters = replace(filters, renaming=renaming.pk)
    context = load_presets_page(request.membership, filters)
    if filters.renaming and name_form is None and context["may_edit"]:
        preset = request.team.presets.filter(pk=filters.renaming).first()
        name_form = PresetNameForm(preset=preset) if preset else None
    context["name_form"] = name_form
    response = render_list(
        request, PAGE_TEMPLATE, BODY_TEMPLATE, context, "components/added_toasts.html"
    )
    if name_form and name_form.errors and not request.htmx:
        response.status_code = 422
    return response


def return_to_list(request: TeamRequest) -> HttpResponse:
    """Show the list with the filters of the address again."""
    if request.htmx:
        return render_presets(request)
    filters = PresetFilters.parse(request.GET)
    return redirect(filters.url(offset=filters.offset, renaming=None))


@require_POST
def start_from(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    """Start a draft with the preset and open its first incomplete step."""
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    try:
        job = actions.use_preset(by=request.membership, preset=preset)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
        return return_to_list(request)
    return redirect_to(request, "studio-draft", job.pk)


@require_POST
def rename(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    form = PresetNameForm(request.POST, preset=preset)
    if form.is_valid():
        try:
            actions.rename_preset(by=request.membership, preset=preset, **form.cleaned_data)
        except StaleData as refusal:
            preset.refresh_from_db(fields=["name"])
            form = PresetNameForm({**request.POST.dict(), "seen": preset.name}, preset=preset)
            form.add_error("name", refusal.sentence)
        except Refusal as refusal:
            form.add_error("name", refusal.sentence)
    return render_presets(request, preset, form) if form.errors else return_to_list(request)


@require_POST
def duplicate(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    try:
        copy = actions.duplicate_preset(by=request.membership, preset=preset)
        messages.success(request, f"“{copy.name}” was added.")
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return return_to_list(request)


@require_POST
def choose_default(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    """Let the member's new drafts start with this preset, or with none if they do already."""
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    is_default = request.membership.default_preset_id == preset.pk
    actions.set_default_preset(by=request.membership, preset=None if is_default else preset)
    if is_default:
        messages.success(request, "Your new drafts start without a preset.")
    else:
        messages.success(request, f"Your new drafts start with “{preset.name}”.")
    return return_to_list(request)


@require_POST
def replace_option(request: TeamRequest, preset_id: UUID) -> HttpResponse:
    """Take the suggested replacement. `option` is the field and the slug, as `genre_id/noir`."""
    preset = fetch_preset(request, preset_id, Permission.RENDER)
    field, _, slug = clean_text_param(request.POST, "option").partition("/")
    try:
        taken = actions.replace_missing_option(
            by=request.membership, preset=preset, field=field, slug=slug
        )
        messages.success(request, f"“{preset.name}” now has {taken.name}.")
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return return_to_list(request)


@require_POST
def request_comparison(request: TeamRequest) -> HttpResponse:
    """Compare the presets with the options as they were last read; nothing is sent."""
    check_permission(request.membership, Permission.RENDER)
    try:
        comparison.compare_now(request.membership)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    return return_to_list(request)
