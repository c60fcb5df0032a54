"""The brand kit: its dialog, and its switch in a draft."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard.models import BrandKit
from dashboard.shared.access import check_permission, fetch_job
from dashboard.shared.http import TeamRequest, allow_get_or_post
from dashboard.shared.roles import Permission
from dashboard.studio.flows import StepSlug, flow_of
from dashboard.studio.kept_settings.team_options import load_team_options
from dashboard.studio.presets.actions import brand_kit as actions
from dashboard.studio.presets.forms import BrandKitForm
from dashboard.studio.presets.views.dialogs import render_preset_dialog, return_to_page
from proxyapi.refusals import Refusal

KIT_TEMPLATE = "studio/presets/_brand_kit.html"


@allow_get_or_post
def edit_brand_kit(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.SET_BRAND_KIT)
    kit = BrandKit.objects.filter(team=request.team).first()
    options = load_team_options(request.team.tenant, timezone.now())
    form = BrandKitForm(kit, options, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        actions.change_brand_kit(
            by=request.membership,
            options=form.chosen_options(),
            applies_to_new_drafts=form.cleaned_data["applies_to_new_drafts"],
        )
        messages.success(request, "The brand kit was saved.")
        return return_to_page(request)
    context = {"form": form, "kit": kit, "has_options": bool(options)}
    return render_preset_dialog(request, KIT_TEMPLATE, context, is_invalid=bool(form.errors))


@require_POST
def switch_brand_kit(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Switch the kit on (`on`) or off for a draft; `step` is the page to return to."""
    job = fetch_job(request, job_id, Permission.RENDER)
    try:
        if request.POST.get("on"):
            actions.apply_brand_kit(by=request.membership, job=job)
        else:
            actions.remove_brand_kit(by=request.membership, job=job)
    except Refusal as refusal:
        messages.error(request, refusal.sentence)
    step = request.POST.get("step", "")
    slug = step if step in flow_of(job).steps_by_slug else StepSlug.VISUALS
    return redirect("studio-step", job.pk, slug)
