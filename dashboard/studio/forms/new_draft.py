"""The form of a new video: a title, and a topic or an own script."""

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
        uses_script = self.cleaned_data.get("source") == "script"
        self.errors.pop("topic" if uses_script else "script", None)  # the other field is not used
        if uses_script and not self.cleaned_data.get("script") and "script" not in self.errors:
            self.add_error("script", SCRIPT_REQUIRED)
        return self.cleaned_data

    def draft_settings(self) -> dict[str, Any]:
        """Return the settings that the draft starts with, without the source that was not
        chosen."""
        source = self.cleaned_data["source"]
        content = self.cleaned_data.get(source)
        return {"type": DEFAULT_FLOW.type, **({source: content} if content else {})}
