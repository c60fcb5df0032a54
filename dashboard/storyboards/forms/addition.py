"""The storyboard that a clip's prompt is added to."""

from __future__ import annotations

from uuid import UUID

from django import forms

from dashboard.shared.forms import PortalForm

NEW_STORYBOARD = "new"
CHOOSE_ONE = "Choose a storyboard."


class AdditionForm(PortalForm):
    """`storyboard` is an id, or `NEW_STORYBOARD`; `scene` is the key of the form."""

    hidden_field_names = {"scene": "the form key"}
    storyboard = forms.CharField(max_length=36, error_messages={"required": CHOOSE_ONE})
    picture = forms.BooleanField(required=False)
    scene = forms.UUIDField(widget=forms.HiddenInput)

    def clean_storyboard(self) -> UUID | None:
        """The id of the storyboard; None for a new one."""
        value = self.cleaned_data["storyboard"]
        if value == NEW_STORYBOARD:
            return None
        try:
            return UUID(value)
        except ValueError:
            raise forms.ValidationError(CHOOSE_ONE) from None
