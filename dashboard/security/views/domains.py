"""Add and remove a domain whose addresses the team accepts."""

from __future__ import annotations

from django.http import HttpResponse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.security.actions.domains import add_allowed_domain, remove_allowed_domain
from dashboard.security.forms.settings import AddDomainForm, RemoveDomainForm
from dashboard.security.views.page import SecurityChange, save_if_confirmed
from dashboard.shared.access import require_visible
from dashboard.shared.email_domains import display_domain
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission


@sensitive_post_parameters("password")
@require_POST
def add_domain(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    form = AddDomainForm(request, request.POST)

    def act() -> str:
        domain = form.cleaned_data["domain"]
        shown = display_domain(domain)
        if add_allowed_domain(by=request.membership, domain=domain):
            return f"Addresses at {shown} are allowed."
        return f"{shown} is in the list already."

    change = SecurityChange("Allow this domain?", "Allow domain", act)
    return save_if_confirmed(request, form, change, "domain_form")


@sensitive_post_parameters("password")
@require_POST
def remove_domain(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    form = RemoveDomainForm(request, request.POST)

    def act() -> str:
        domain = form.cleaned_data["removed"]
        if remove_allowed_domain(by=request.membership, domain=domain):
            return f"{display_domain(domain)} was removed."
        return ""

    change = SecurityChange("Remove this domain?", "Remove domain", act)
    return save_if_confirmed(request, form, change)
