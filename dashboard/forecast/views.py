"""When the credits run out, and whether a batch fits; from the portal's own database."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.forecast.forms import BatchForecastForm
from dashboard.forecast.queries import BatchInput, build_forecast_page
from dashboard.shared.access import check_permission, fetch_account
from dashboard.shared.http import TeamRequest
from dashboard.shared.ledger_agreement import accounts_with_ledger
from dashboard.shared.roles import Permission

PAGE_TEMPLATE, OUTLOOK_TEMPLATE = "forecast/page.html", "forecast/_outlook.html"


@require_safe
def forecast(request: TeamRequest) -> HttpResponse:
    """The page; for htmx the part that follows the ledger."""
    account, accounts = fetch_account(request, request.GET.get("account", ""))
    if account is None:
        return render(request, "forecast/no_account.html")
    asked = not request.htmx and ("n" in request.GET or "each" in request.GET)
    form = BatchForecastForm(request.GET if asked else None)
    wish = None
    if asked and form.is_valid():
        wish = BatchInput(form.cleaned_data["n"], form.cleaned_data["each"])
    context = {"page": build_forecast_page(account, accounts, wish), "form": form}
    return render(request, OUTLOOK_TEMPLATE if request.htmx else PAGE_TEMPLATE, context)


@require_safe
def forecast_summary(request: TeamRequest) -> HttpResponse:
    """When the credits run out, for a place in another page that fetches it.

    Of a team with one account; each of several has its own forecast.
    """
    check_permission(request.membership, Permission.VIEW)
    accounts = tuple(accounts_with_ledger(request.team.tenant).select_related("tenant"))
    range_ = build_forecast_page(accounts[0], accounts).range if len(accounts) == 1 else None
    return render(request, "components/run_out_summary.html", {"range": range_})
