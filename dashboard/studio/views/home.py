"""The studio's first page, the reading of its field, and the draft that is made of it."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from dashboard.shared.access import check_permission, has_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.studio import actions
from dashboard.studio.forms import QuickStartForm
from dashboard.studio.forms.page_address import normalize_page_address
from dashboard.studio.presets.queries import load_most_used_presets
from dashboard.studio.queries import (
    HOME_DRAFT_COUNT,
    DraftFilters,
    StepSlug,
    StudioHome,
    build_quick_start,
    first_open_step,
    load_default_settings,
    load_drafts,
    load_start_settings,
    load_studio_home,
)
from dashboard.studio.views.responses import INVALID_FORM_STATUS
from proxyapi.refusals import Refusal

HOME_TEMPLATE, READING_TEMPLATE = "studio/home.html", "studio/_reading.html"
REFUSED_TEMPLATE = "studio/refused_type.html"


@require_safe
def studio(request: TeamRequest) -> HttpResponse:
    """Render the page; `?part=drafts` and `?part=presets` return what the page fetches itself."""
    match request.GET.get("part"):
        case "drafts":
            filters = DraftFilters.parse(request.GET.dict())
            context = load_drafts(request.membership, filters, HOME_DRAFT_COUNT)
            return render(request, "studio/_drafts.html", {**context, "may_change": False})
        case "presets":
            presets, total = load_most_used_presets(request.team)
            may_use = has_permission(request.membership, Permission.RENDER)
            context = {"presets": presets, "total": total, "may_use": may_use}
            return render(request, "studio/_presets.html", context)
    home = load_studio_home(request.membership)
    return render(request, HOME_TEMPLATE, home_context(request, home))


@require_POST
def read_start(request: TeamRequest) -> HttpResponse:
    """Render how the typed text is read; without htmx, on the whole page. Nothing is stored."""
    check_permission(request.membership, Permission.RENDER)
    home = load_studio_home(request.membership)
    if not request.htmx:
        return render(request, HOME_TEMPLATE, home_context(request, home, request.POST))
    form = QuickStartForm(home.choices, home.start.options, request.POST)
    if not form.reading.text:
        form.errors.pop("start", None)  # an empty field is an error only when it is sent
    context = {**quick_context(request, form, home), "shown": request.POST.get("shown", "")}
    return render(request, READING_TEMPLATE, context)


@require_POST
def create_draft(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.RENDER)
    home = load_studio_home(request.membership)
    form = QuickStartForm(home.choices, home.start.options, request.POST)
    is_refused = form.chosen_flow.type in home.costs.refused_types
    if form.is_valid() and is_refused and "anyway" not in request.POST:
        return render(request, REFUSED_TEMPLATE, {"form": form, "home": home})
    if form.is_valid():
        try:
            job = actions.start_draft(
                by=request.membership,
                title=form.title,
                chosen=form.draft_settings(),
                script_request=form.script_request(),
                fallback=load_fallback(request, home, form),
            )
            if form.page_url:
                url = normalize_page_address(form.page_url)
                actions.read_web_page(by=request.membership, job=job, url=url)
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            step = first_open_step(job).slug if form.reading.text else StepSlug.TYPE
            return redirect("studio-step", job.pk, step)
    context = home_context(request, home, request.POST, form)
    return render(request, HOME_TEMPLATE, context, status=INVALID_FORM_STATUS)


def load_fallback(request: TeamRequest, home: StudioHome, form: QuickStartForm) -> dict[str, Any]:
    """Return the defaults of the type, for what neither the member nor a preset chose."""
    chosen, start = form.draft_settings(), home.start
    if start.account is None:
        return {}
    return load_default_settings(
        request.membership, start.account, start.options, form.chosen_flow, chosen
    )


def home_context(
    request: TeamRequest, home: StudioHome, data: Any = None, form: QuickStartForm | None = None
) -> dict[str, Any]:
    form = form or QuickStartForm(home.choices, home.start.options, data)
    return quick_context(request, form, home)


def quick_context(request: TeamRequest, form: QuickStartForm, home: StudioHome) -> dict[str, Any]:
    account, options = home.start.account, home.start.options
    flow, settings = form.chosen_flow, home.settings[form.chosen_flow.type]
    if form.is_bound:
        chosen = form.chosen_format
        settings = load_start_settings(request.membership, account, options, flow, chosen)
    quick = build_quick_start(form.reading, form.chosen_duration, settings, home)
    return {"form": form, "home": home, "quick": quick}
