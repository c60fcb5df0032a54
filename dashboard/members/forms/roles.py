"""The form that confirms a role that manages people or money, before a member gets it."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.models import Role
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm
from dashboard.shared.roles import ROLE_DESCRIPTIONS


class RoleConfirmationForm(RecentAuthenticationForm):
    role = forms.ChoiceField(choices=Role, widget=forms.HiddenInput)

    def __init__(self, request: TeamRequest, data: Any = None, *, role: Role) -> None:
        super().__init__(request, data, initial={"role": role.value})
        self.new_role = role

    @property
    def sentence(self) -> str:
        """Return what the role can do."""
        return ROLE_DESCRIPTIONS[self.new_role]

    def without_errors(self) -> RoleConfirmationForm:
        """Return the form as it is first shown: the select was changed, no answer was sent."""
        return RoleConfirmationForm(self.request, role=self.new_role)
