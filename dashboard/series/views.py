"""The pages of series: the list, a new one, one with what comes next, and its dialogs."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from dashboard.models import Series
from dashboard.models.planned_render import wall_clock_text
from dashboard.series import actions
from dashboard.series.forms import SeriesForm, SeriesStartForm
from dashboard.shared.access import check_permission, fetch_ideas, has_permission
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.dialogs import ChargeDialog, DialogView
from dashboard.shared.formatting import credits
from dashboard.shared.http import TeamRequest, allow_get_or_post, redirect_to
from dashboard.shared.price_question import PriceQuestion
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import WITHOUT_SECOND_PERSON
from proxyapi.refusals import CreditCheck, Refusal

PAGE_TEMPLATE = "series/series.html"
INVALID_FORM_STATUS = 422
SHOWN_BATCHES = 20
NOTICE = (
    "Nothing is held now. {rhythm}, up to {count} videos start by themselves, within {limit} cr a "
    "month, on your token and within your budgets. What stands in the way pauses it, and you are "
    "told."
)


@require_safe
def series_list(request: TeamRequest) -> HttpResponse:
    check_permission(request.membership, Permission.VIEW)
    rows = request.team.series.select_related("member", "preset")
    may_make = has_permission(request.membership, Permission.RENDER)
    return render(request, "series/page.html", {"rows": rows, "may_make": may_make})


@allow_get_or_post
def new_series(request: TeamRequest) -> HttpResponse:
    """A new series; posted ideas are its first topics."""
    check_permission(request.membership, Permission.RENDER)
    series = Series(
        team=request.team,
        member=request.user,
        weekdays=[0],
        time_zone=request.team.tenant.time_zone,
    )
    is_sent = request.method == "POST" and "idea" not in request.POST
    topics = "\n".join(" ".join(idea.title.split()) for idea in fetch_ideas(request))
    form = SeriesForm(series, request.POST if is_sent else None, topics)
    if is_sent and form.is_valid():
        changes = form.cleaned_data
        del changes["drawn"]
        saved = actions.save_series(by=request.membership, series=series, changes=changes)
        return redirect("series", saved.pk)
    status = INVALID_FORM_STATUS if is_sent else 200
    return render(request, "series/new.html", {"form": form}, status=status)


@allow_get_or_post
def series(request: TeamRequest, series_id: UUID) -> HttpResponse:
    """What comes next, what it made, and its settings, which POST saves."""
    is_sent = request.method == "POST"
    row = fetch_series(request, series_id, Permission.RENDER if is_sent else Permission.VIEW)
    if is_sent:
        actions.require_own(request.membership, row)
    form = SeriesForm(row, request.POST if is_sent else None)
    if is_sent and form.is_valid():
        changes = form.cleaned_data
        drawn = changes.pop("drawn")
        try:
            actions.save_series(by=request.membership, series=row, changes=changes, drawn=drawn)
            messages.success(request, "Saved.")
            return redirect("series", row.pk)
        except Refusal as refusal:
            form = form.with_current_version(fetch_series(request, series_id))
            form.add_error("topics", refusal.sentence)
    context = {**load_series(request, row), "settings_form": form}
    return render(request, PAGE_TEMPLATE, context, status=INVALID_FORM_STATUS if is_sent else 200)


@require_POST
def pause(request: TeamRequest, series_id: UUID) -> HttpResponse:
    row = fetch_series(request, series_id, Permission.RENDER)
    actions.pause_series(by=request.membership, series=row)
    messages.info(request, "Paused. Batches that were started go on.")
    return redirect("series", row.pk)


def fetch_series(
    request: TeamRequest, series_id: UUID, permission: Permission = Permission.VIEW
) -> Series:
    related = ("member", "preset", "team__tenant")
    row = request.team.series.select_related(*related).filter(pk=series_id).first()
    if row is None:
        raise Http404("This series does not exist in this team.")
    check_permission(request.membership, permission)
    return row


def load_series(request: TeamRequest, series: Series) -> dict[str, Any]:
    """Return the next topics with their prices, and the batches, the newest first."""
    may_change = has_permission(request.membership, Permission.RENDER)
    context = {
        "series": series,
        "may_change": may_change,
        "is_own": may_change and series.member_id == request.membership.user_id,
        "waiting_count": len(series.topic_lines),
        "used": actions.load_used_of_month(series),
        "batches": series.batches.select_related("team__tenant")[:SHOWN_BATCHES],
    }
    try:
        run = actions.load_next_run(series)
    except Refusal as refusal:
        return {**context, "refusal": refusal.sentence}
    rows = [(check, run.prices.get(check.row.number)) for check in run.checks]
    return {**context, "rows": rows, "total": run.total}


class SeriesDialog(DialogView):
    page_template = PAGE_TEMPLATE
    permission = Permission.RENDER

    def fetch(self, series_id: UUID) -> HttpResponse | None:
        self.series = fetch_series(self.request, series_id, self.permission)
        self.back = reverse("series", args=[series_id])
        return None

    def load_dialog(self) -> Mapping[str, Any]:
        return {"series": self.series}

    def load_page(self) -> Mapping[str, Any]:
        context = load_series(self.request, self.series)
        return {**context, "settings_form": SeriesForm(self.series)}


class StartSeries(ChargeDialog, SeriesDialog):
    """The question before a series starts, or goes on: what one time and one month may cost."""

    template_name = ChargeDialog.template_name
    form_class = SeriesStartForm

    def fetch(self, series_id: UUID) -> HttpResponse | None:
        super().fetch(series_id)
        actions.require_own(self.by, self.series)
        try:
            self.run = actions.load_next_run(self.series)
        except Refusal as refusal:
            messages.error(self.request, refusal.sentence)
            return redirect_to(self.request, self.back)
        return None

    def build_question(self) -> PriceQuestion:
        series, run = self.series, self.run
        unmet, limit, first = [], run.total.limit, series.next_at
        try:
            first = actions.first_time(series, run)
        except Refusal as refusal:
            unmet.append(refusal.sentence)
        impact = build_budget_impact(self.by, limit, run.largest_limit)
        if impact and impact.refusal and impact.label == WITHOUT_SECOND_PERSON:
            unmet.append(impact.refusal)  # a budget counts at the time, not now
        account, monthly = run.token.account, credits(series.monthly_credits)
        held, _ = account.held_by_all_and_others()
        return PriceQuestion(
            label="Start series",
            heading=f"Start “{series.name}”, within {monthly} cr a month?",
            summary=f"{series.rhythm_text}. First on {wall_clock_text(first, series.zone)}.",
            price=run.total.usual or Decimal(0),
            price_note="Each time, as videos like these cost you",
            credit_check=CreditCheck(limit, account.balance - held),
            hold_label="At most, each time",
            budget=None if impact is None or impact.refusal else impact,
            unmet=tuple(unmet),
            notice=NOTICE.format(rhythm=series.rhythm_text, count=series.count, limit=monthly),
            url=reverse("series-starts", args=[series.pk]),
            cancel_url=self.back,
            hidden_fields={"version": series.version},
        )

    def charge(self, **confirmed: Any) -> str | None:
        seen, version = confirmed["seen"], confirmed["version"]
        actions.resume_series(by=self.by, series=self.series, seen=seen, version=version)
        return "The series runs. Nothing was sent yet."


class RemoveSeries(SeriesDialog):
    template_name = "series/_removal.html"

    def save(self, form: Any) -> str:
        actions.remove_series(by=self.by, series=self.series)
        self.back = "series-list"
        return "Deleted. Its batches and videos stay."
