"""The form that chooses the new owner of a team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms

from dashboard.models import Membership
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm


class OwnershipTransferForm(RecentAuthenticationForm):
    def __init__(
        self, request: TeamRequest, members: Sequence[Membership], data: Any = None
    ) -> None:
        super().__init__(request, data)
        self.members = members
        choices = [(str(member.pk), str(member.user)) for member in members]
        self.fields["to"] = forms.TypedChoiceField(
            label="New owner", coerce=int, choices=choices, initial=choices[0][0] if choices else ""
        )

    @property
    def rows(self) -> list[tuple[Membership, bool]]:
        """Return the members, and whether each is the chosen one."""
        chosen = str(self["to"].value())
        return [(member, str(member.pk) == chosen) for member in self.members]

    @property
    def new_owner(self) -> Membership:
        """Return the chosen member of a valid form."""
        return next(row for row in self.members if row.pk == self.cleaned_data["to"])
