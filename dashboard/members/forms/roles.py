"""The form that asks for the password before a member gets a role that manages people or money."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.models import Role
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_password import RecentPasswordForm
from dashboard.shared.roles import ROLE_DESCRIPTIONS


class RolePasswordForm(RecentPasswordForm):
    role = forms.ChoiceField(choices=Role, widget=forms.HiddenInput)

    def __init__(self, request: TeamRequest, data: Any = None, *, role: Role) -> None:
        super().__init__(request, data, initial={"role": role.value})
        self.new_role = role

    @property
    def sentence(self) -> str:
        """Return what the role can do."""
        return ROLE_DESCRIPTIONS[self.new_role]

    def without_errors(self) -> RolePasswordForm:
        """Return the form as it is first shown: the select was changed, no password was sent."""
        return RolePasswordForm(self.request, role=self.new_role)
