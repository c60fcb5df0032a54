"""The brand kit: its dialog, and its switch in a draft."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from dashboard.models import BrandKit
from dashboard.shared.access import check_permission, fetch_job
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.studio.flows import StepSlug, flow_of
from dashboard.studio.kept_settings.team_options import load_team_options
from dashboard.studio.presets.actions import brand_kit as actions
from dashboard.studio.presets.forms import BrandKitForm
from dashboard.studio.presets.views.dialogs import PresetDialog
from proxyapi.refusals import Refusal


class EditBrandKit(PresetDialog):
    template_name = "studio/presets/_brand_kit.html"

    def fetch(self) -> None:
        check_permission(self.by, Permission.SET_BRAND_KIT)
        self.offered = load_team_options(self.request.team.tenant, timezone.now())

    def build_form(self, data: Mapping[str, Any] | None = None) -> BrandKitForm:
        kit = BrandKit.objects.filter(team=self.request.team).first()
        return BrandKitForm(kit, self.offered, data)

    def save(self, form: BrandKitForm) -> str:
        applies = form.cleaned_data["applies_to_new_drafts"]
        chosen = form.chosen_options()
        actions.change_brand_kit(by=self.by, options=chosen, applies_to_new_drafts=applies)
        return "The brand kit was saved."

    def load_dialog(self) -> Mapping[str, Any]:
        return {"has_options": bool(self.offered)}


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
