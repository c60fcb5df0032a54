"""Forms to remove a member, to leave, and to hand work over."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms import BoundField

from dashboard.members.actions.removal import WorkSuccessors
from dashboard.members.queries.removal import DRAFTS_FIELD, RENDERS_FIELD, LeftWork, WorkLine
from dashboard.shared.forms import PortalForm
from dashboard.shared.http import TeamRequest
from dashboard.shared.recent_authentication import RecentAuthenticationForm


def user_id_or_none(value: str) -> int | None:
    return int(value) if value else None


class RemoveMemberForm(RecentAuthenticationForm):
    """Who gets running renders and drafts. The first colleague is chosen; empty means nobody."""

    def __init__(self, request: TeamRequest, work: LeftWork, data: Any = None) -> None:
        super().__init__(request, data)
        self.work = work
        fields = {line.field for line in work.lines}
        if RENDERS_FIELD in fields:
            self.add_choice(RENDERS_FIELD, "Watch with {row.first_name}’s token", "Stop watching")
        if DRAFTS_FIELD in fields:
            self.add_choice(DRAFTS_FIELD, "Move to {row.name}", "Move to any colleague")

    def add_choice(self, name: str, phrase: str, nobody: str) -> None:
        """Add a select with each colleague, and `nobody`."""
        rows = self.work.successors
        choices = [(str(row.user_id), phrase.format(row=row)) for row in rows]
        self.fields[name] = forms.TypedChoiceField(
            choices=[*choices, ("", nobody)],
            required=False,
            coerce=user_id_or_none,
            empty_value=None,
            initial=choices[0][0],
        )

    @property
    def lines(self) -> list[tuple[WorkLine, BoundField | None]]:
        """Return each line with the field of its choice, if it has one."""
        return [
            (line, self[line.field] if line.field in self.fields else None)
            for line in self.work.lines
        ]

    @property
    def successors(self) -> WorkSuccessors:
        return WorkSuccessors(
            self.cleaned_data.get(RENDERS_FIELD), self.cleaned_data.get(DRAFTS_FIELD)
        )


class HandOverForm(PortalForm):
    """The colleague who goes on with a member's work."""

    to = forms.TypedChoiceField(label="Hand over to", coerce=int)

    def __init__(self, work: LeftWork, data: Any = None) -> None:
        super().__init__(data)
        choices = [(str(row.user_id), row.name) for row in work.successors]
        self.fields["to"] = forms.TypedChoiceField(
            label="Hand over to", coerce=int, choices=choices
        )
