"""The security page of owners and admins, and the confirmation that its forms ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe
from django_htmx.http import HttpResponseClientRedirect, reswap, retarget

from dashboard.security.forms.settings import AddDomainForm, SessionLimitsForm
from dashboard.security.forms.single_sign_on import SingleSignOnForm
from dashboard.security.queries.page import build_security_page
from dashboard.shared.access import require_visible
from dashboard.shared.dialogs import ConfirmedDialog
from dashboard.shared.http import TeamRequest, redirect_to
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import Permission
from dashboard.shared.session_limits import team_session_limits
from dashboard.shared.team_security import find_team_security
from proxyapi.refusals import Refusal

PAGE_TEMPLATE, CONFIRMATION_TEMPLATE = "security/page.html", "security/_confirmation.html"
# The parts that refetch themselves: the id of the element, and its template.
PART_TEMPLATES = {
    "security-two-factor": "security/_two_factor.html",
    "security-domains": "security/_domains.html",
    "security-sessions": "security/_sessions.html",
    "security-sign-ins": "security/_sign_ins.html",
    "security-single-sign-on": "security/_single_sign_on.html",
    "single-sign-on-state": "security/_single_sign_on_state.html",
}


@dataclass(frozen=True, slots=True)
class SecurityChange:
    """A change that a form of the page asks for. `title` and `label` are those of the dialog that
    asks for the confirmation; `act` returns what is said when it is done, "" if nothing changed."""

    title: str
    label: str
    act: Callable[[], str]


@require_safe
def security(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    return render_security_page(request)


def load_security_page(request: TeamRequest) -> dict[str, Any]:
    page = build_security_page(request.membership)
    limits = team_session_limits(find_team_security(request.team))
    return {
        "page": page,
        "domain_form": AddDomainForm(request),
        "session_form": SessionLimitsForm(request, limits),
        "sso_form": SingleSignOnForm(request, page.single_sign_on.row),
    }


def render_security_page(
    request: TeamRequest, *, status: int = 200, **context: Any
) -> HttpResponse:
    """Render the page, or for htmx the part that asks for itself. `context`: a dialog, or the form
    that was refused."""
    template = PART_TEMPLATES.get(str(request.htmx.target), PAGE_TEMPLATE)
    return render(request, template, {**load_security_page(request), **context}, status=status)


def save_if_confirmed(
    request: TeamRequest, form: RecentAuthenticationForm, change: SecurityChange, name: str = ""
) -> HttpResponse:
    """Carry out the change and show the page again.

    If only the confirmation is missing or wrong, show the dialog that asks for it. Other errors are
    shown in the form, which is `name` in the page's context.
    """
    if form.is_valid():
        try:
            if said := change.act():
                messages.success(request, said)
        except Refusal as refusal:
            messages.error(request, refusal.sentence)
        return redirect_to(request, "security")
    if form.lacks_confirmation:
        return render_confirmation_dialog(request, form, change)
    if request.htmx:
        messages.error(request, form.first_error())
        return HttpResponseClientRedirect(redirect("security").url)
    return render_security_page(request, status=422, **({name: form} if name else {}))


def render_confirmation_dialog(
    request: TeamRequest, form: RecentAuthenticationForm, change: SecurityChange
) -> HttpResponse:
    """Show the dialog with the values of the form: alone for htmx, else on the page."""
    names = [name for name in form.fields if name != "password" and name in request.POST]
    context = {
        "dialog": CONFIRMATION_TEMPLATE,
        "change": change,
        "back": reverse("security"),
        "hidden": [(name, request.POST[name]) for name in names],
        "form": form if form.was_asked else RecentAuthenticationForm(request),
    }
    if not request.htmx:
        status = 422 if form.was_asked else 200
        return render_security_page(request, status=status, **context)
    response = render(request, CONFIRMATION_TEMPLATE, context)
    return reswap(retarget(response, "#dialogs"), "innerHTML")


class SecurityDialog(ConfirmedDialog):
    page_template, back = PAGE_TEMPLATE, "security"

    def load_page(self) -> Mapping[str, Any]:
        return load_security_page(self.request)
