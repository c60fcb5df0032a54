"""What things cost: by the service's list, and by what the team really paid."""

from __future__ import annotations

from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.access import check
from dashboard.http import TeamRequest
from dashboard.queries.costs import page_of, priced
from dashboard.queries.shell import shell_of
from dashboard.roles import Permission


@require_safe
def costs(request: TeamRequest) -> HttpResponse:
    """`?account=` names the one whose list is shown."""
    check(request.membership, Permission.SEE)
    shell = shell_of(request.membership, priced(request.team.vault))
    wanted = request.GET.get("account", "")
    if wanted and all(str(account.pk) != wanted for account in shell.accounts):
        raise Http404("There is no such account in this team.")
    page = page_of(shell.accounts, wanted)
    return render(request, "dashboard/costs/page.html", {"page": page, "shell": shell})
