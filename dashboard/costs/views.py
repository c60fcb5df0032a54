"""The costs page: the service's price list and what the team paid."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.costs.queries import (
    accounts_with_cost_maps,
    build_costs_page,
    load_estimate_accuracy,
)
from dashboard.shared.access import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.shell import build_app_shell
from dashboard.shared.team_balance import all_team_accounts


@require_safe
def costs(request: TeamRequest) -> HttpResponse:
    """`?account=` selects the account whose price list is shown."""
    check_permission(request.membership, Permission.VIEW)
    shell = build_app_shell(request.membership, accounts_with_cost_maps(request.team.tenant))
    account_id = request.GET.get("account", "")
    if account_id and all(str(account.pk) != account_id for account in shell.accounts):
        raise Http404("This account does not exist in this team.")
    page = build_costs_page(shell.accounts, account_id)
    return render(request, "costs/page.html", {"page": page, "shell": shell})


@require_safe
def estimate_accuracy(request: TeamRequest) -> HttpResponse:
    """The accuracy of estimates as a fragment for another page."""
    check_permission(request.membership, Permission.VIEW)
    accounts = tuple(all_team_accounts(request.team.tenant))
    accuracy = load_estimate_accuracy(accounts)
    return render(request, "costs/_estimate_accuracy.html", {"close": accuracy})
