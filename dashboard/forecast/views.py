"""The forecast page: when the credits run out, and whether a batch fits. It does not call the
service."""

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
    """The page; for htmx the part that refreshes when the ledger changes."""
    account, accounts = fetch_account(request, request.GET.get("account", ""))
    if account is None:
        return render(request, "forecast/no_account.html")
    has_batch_params = not request.htmx and ("n" in request.GET or "each" in request.GET)
    form = BatchForecastForm(request.GET if has_batch_params else None)
    batch = None
    if has_batch_params and form.is_valid():
        batch = BatchInput(form.cleaned_data["n"], form.cleaned_data["each"])
    context = {"page": build_forecast_page(account, accounts, batch), "form": form}
    return render(request, OUTLOOK_TEMPLATE if request.htmx else PAGE_TEMPLATE, context)


@require_safe
def forecast_summary(request: TeamRequest) -> HttpResponse:
    """When the credits run out, as a fragment for another page.

    Empty unless the credits of exactly one account can be spent: each has its own forecast.
    """
    check_permission(request.membership, Permission.VIEW)
    loaded = accounts_with_ledger(request.team.tenant).select_related("tenant")
    accounts = tuple(account for account in loaded if not account.spending_obstacle)
    run_out_range = build_forecast_page(accounts[0], accounts).range if len(accounts) == 1 else None
    return render(request, "components/run_out_summary.html", {"range": run_out_range})
