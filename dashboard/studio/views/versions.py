"""Versions of a video: choose what differs, and render them with one price."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from dashboard.shared.access import fetch_version_group
from dashboard.shared.dialogs import ChargeDialog
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.query_params import parse_credits, parse_uuid
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import account_options
from dashboard.studio import version_actions
from dashboard.studio.forms.versions import VersionsForm
from dashboard.studio.queries.price import draft_requirements
from dashboard.studio.queries.versions_question import build_versions_question
from dashboard.studio.views.responses import INVALID_FORM_STATUS, fetch_studio_job
from proxyapi.models import Job
from proxyapi.refusals import Refusal, StaleData

CHOOSE_TEMPLATE, CHOOSE_PAGE_TEMPLATE = (
    "studio/versions/_choose.html",
    "studio/versions/choose.html",
)
QUESTION_PAGE_TEMPLATE = "studio/versions/question.html"
PRICE_FIELD_PREFIX = "price-"


@allow_get_or_post
def choose_versions(request: TeamRequest, job_id: UUID) -> HttpResponse:
    """Show what the versions can differ in; POST creates them as drafts, free of charge."""
    job = fetch_studio_job(request, job_id, Permission.RENDER)
    if version := getattr(job, "version", None):
        return redirect_to(request, "video-versions", version.group_id)
    unmet = unmet_requirements(job)
    form = VersionsForm(job, request.POST if request.method == "POST" else None)
    if request.method == "POST" and not unmet and form.is_valid():
        try:
            group = version_actions.create_versions(
                by=request.membership,
                job=job,
                nonce=form.cleaned_data["nonce"],
                difference=form.chosen_difference,
                values=form.upstream_values(),
            )
        except Refusal as refusal:
            form.add_error(None, refusal.sentence)
        else:
            return redirect_to(request, "video-versions", group.pk)
    template = CHOOSE_TEMPLATE if request.htmx else CHOOSE_PAGE_TEMPLATE
    status = INVALID_FORM_STATUS if form.errors and not request.htmx else 200
    context = {"job": job, "form": form, "unmet": unmet, "fragment": bool(request.htmx)}
    return render(request, template, context, status=status)


class RenderVersions(ChargeDialog):
    """Shows each price and the total; POST charges each version once, all or none of them."""

    page_template = QUESTION_PAGE_TEMPLATE

    def fetch(self, group_id: UUID) -> None:
        self.group = fetch_version_group(self.request, group_id, Permission.RENDER)
        self.back = reverse("video-versions", args=[self.group.pk])

    def charge(self, **confirmed: Any) -> str:
        prices = parse_shown_prices(self.request)
        if sum(prices.values(), Decimal(0)) != confirmed["seen"]:
            raise StaleData(version_actions.VERSIONS_CHANGED)
        charges = version_actions.render_versions(
            by=self.by, group=self.group, **{**confirmed, "seen": prices}
        )
        count = len(charges)
        if confirmed["answer"].note is not None:
            text = f"{count} approvals were" if count > 1 else "1 approval was"
            return f"{text} requested. Nothing was charged."
        text = f"{count} versions were sent. Each is" if count > 1 else "1 version was sent. It is"
        return f"{text} charged once."

    def build_question(self) -> PriceQuestion:
        jobs = list(version_actions.version_jobs(self.group).prefetch_related("charges"))
        return build_versions_question(self.group, jobs, self.by)

    def load_page(self) -> Mapping[str, Any]:
        return {}


def parse_shown_prices(request: TeamRequest) -> dict[UUID, Decimal]:
    """Return the shown price of each version; raise `StaleData` for damaged fields."""
    seen = {}
    for name, text in request.POST.items():
        if name.startswith(PRICE_FIELD_PREFIX):
            job_id, price = (
                parse_uuid(name.removeprefix(PRICE_FIELD_PREFIX)),
                parse_credits(str(text)),
            )
            if job_id is None or price is None:
                raise StaleData(version_actions.VERSIONS_CHANGED)
            seen[job_id] = price
    return seen


def unmet_requirements(job: Job) -> list[str]:
    """Return what the settings of a video lack for a render."""
    needs = draft_requirements(job, account_options(job.account))
    return [need.label for need in needs if not need.done]
