"""What things cost: by the service's list, and by what the team really paid."""

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
    """`?account=` names the one whose list is shown."""
    check_permission(request.membership, Permission.VIEW)
    shell = build_app_shell(request.membership, accounts_with_cost_maps(request.team.tenant))
    wanted = request.GET.get("account", "")
    if wanted and all(str(account.pk) != wanted for account in shell.accounts):
        raise Http404("This account does not exist in this team.")
    page = build_costs_page(shell.accounts, wanted)
    return render(request, "costs/page.html", {"page": page, "shell": shell})


@require_safe
def estimate_accuracy(request: TeamRequest) -> HttpResponse:
    """How close the estimates were, for a place in another page that fetches it."""
    check_permission(request.membership, Permission.VIEW)
    accounts = tuple(all_team_accounts(request.team.tenant))
    close = load_estimate_accuracy(accounts)
    return render(request, "costs/_estimate_accuracy.html", {"close": close})
