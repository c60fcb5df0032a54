"""The security page of owners and admins."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from dashboard.security.queries.page import build_security_page
from dashboard.shared.access import require_visible
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission

# The parts that refetch themselves; each is a template of the page.
PART_TEMPLATES = {"security-two-factor": "security/_two_factor.html"}


@require_safe
def security(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    return render_security_page(request)


def render_security_page(
    request: TeamRequest, *, status: int = 200, **context: object
) -> HttpResponse:
    """Render the page, or for htmx the part that asks for itself. `context`: a dialog, or the form
    that was refused."""
    template = PART_TEMPLATES.get(str(request.htmx.target), "security/page.html")
    context = {"page": build_security_page(request.membership), **context}
    return render(request, template, context, status=status)
