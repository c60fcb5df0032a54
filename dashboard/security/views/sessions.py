"""Set how long sessions last, and sign everybody out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from dashboard.security.actions.sessions import set_session_limits, sign_everyone_out
from dashboard.security.forms.settings import SessionLimitsForm
from dashboard.security.queries.page import load_open_sessions
from dashboard.security.views.page import SecurityChange, SecurityDialog, save_if_confirmed
from dashboard.shared.access import require_visible
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from dashboard.shared.session_limits import team_session_limits
from dashboard.shared.team_security import find_team_security

LIMITS_SAVED_TEXT = "Saved. It counts for open sessions as well."


@sensitive_post_parameters("password")
@require_POST
def update_limits(request: TeamRequest) -> HttpResponse:
    require_visible(request.membership, Permission.MANAGE_SECURITY)
    current = team_session_limits(find_team_security(request.team))
    form = SessionLimitsForm(request, current, request.POST)

    def act() -> str:
        changed = set_session_limits(by=request.membership, limits=form.limits)
        return LIMITS_SAVED_TEXT if changed else ""

    change = SecurityChange("Change the length of sessions?", "Change sessions", act)
    return save_if_confirmed(request, form, change, "session_form")


class SignEveryoneOut(SecurityDialog):
    template_name = "security/_sign_out.html"

    def fetch(self) -> None:
        require_visible(self.by, Permission.MANAGE_SECURITY)

    def save(self, form: PortalForm) -> str:
        sign_everyone_out(by=self.by)
        self.request.session.flush()
        self.back = "account_login"
        return ""

    def load_dialog(self) -> Mapping[str, Any]:
        return {"open_sessions": load_open_sessions(self.by)}
