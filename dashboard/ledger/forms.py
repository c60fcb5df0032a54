"""The form of who gets the monthly report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from django import forms

from dashboard.ledger.report_actions import recipients_version
from dashboard.models import Membership
from dashboard.shared.forms import VERSION_LABEL, PortalForm


class ReportRecipientsForm(PortalForm):
    """A checkbox for each member, and the hidden version that the form was built from."""

    members = forms.TypedMultipleChoiceField(
        label="Recipients",
        coerce=int,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        error_messages={
            "invalid_choice": "One of them is no longer a member. Check the list and save again."
        },
    )
    drawn = forms.CharField(widget=forms.HiddenInput, required=False, label=VERSION_LABEL)

    def __init__(self, members: Sequence[Membership], data: Any = None) -> None:
        recipients = [member for member in members if member.monthly_report_since]
        self.version = recipients_version(recipients)
        initial = {"members": [member.pk for member in recipients], "drawn": self.version}
        super().__init__(data, initial=initial, use_required_attribute=False)
        choices = [(member.pk, str(member.user)) for member in members]
        self.fields["members"].choices = choices  # type: ignore[attr-defined]  # it is a choice field
        self.team_members = members

    def with_current_version(self, members: Sequence[Membership]) -> Self:
        """The choice on top of the current recipients, so that saving again applies it."""
        form = type(self)(members)
        chosen = self.cleaned_data["members"]
        return type(self)(members, {"members": chosen, "drawn": form.version})

    def choices(self) -> list[dict[str, Any]]:
        """A row for each checkbox: the member, and whether it is ticked."""
        chosen = {str(value) for value in self["members"].value() or ()}
        return [
            {"member": member, "is_chosen": str(member.pk) in chosen}
            for member in self.team_members
        ]
