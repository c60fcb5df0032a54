"""A new video: a title, and a topic or an own script."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.studio.flows import DEFAULT_FLOW
from dashboard.studio.forms.fields import SCRIPT_REQUIRED, ScriptField, TitleField, TopicField

SOURCE_CHOICES = [("topic", "From a topic"), ("script", "My own script")]


class NewVideoForm(PortalForm):
    title = TitleField()
    source = forms.ChoiceField(
        choices=SOURCE_CHOICES,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what to start from."},
    )
    topic = TopicField(required=False)
    script = ScriptField(required=False, rows=8)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"source": "topic"}, use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        own = self.cleaned_data.get("source") == "script"
        self.errors.pop("topic" if own else "script", None)  # the other one is not used
        if own and not self.cleaned_data.get("script") and "script" not in self.errors:
            self.add_error("script", SCRIPT_REQUIRED)
        return self.cleaned_data

    def draft_settings(self) -> dict[str, Any]:
        """What the draft starts with; the source that was not chosen is left out."""
        source = self.cleaned_data["source"]
        first = self.cleaned_data.get(source)
        return {"type": DEFAULT_FLOW.type, **({source: first} if first else {})}
