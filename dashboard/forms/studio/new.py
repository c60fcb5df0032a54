"""A new video: a title, and a topic or an own script."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.forms.plain import PlainForm
from dashboard.forms.studio.fields import NO_SCRIPT, Script, Title, Topic

SOURCES = [("topic", "From a topic"), ("script", "My own script")]


class NewForm(PlainForm):
    title = Title()
    source = forms.ChoiceField(
        choices=SOURCES,
        widget=forms.RadioSelect,
        error_messages={"required": "Choose what it starts with."},
    )
    topic = Topic(required=False)
    script = Script(required=False, rows=8)

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, initial={"source": "topic"}, use_required_attribute=False)

    def clean(self) -> dict[str, Any]:
        own = self.cleaned_data.get("source") == "script"
        self.errors.pop("topic" if own else "script", None)  # the other one is not used
        if own and not self.cleaned_data.get("script") and "script" not in self.errors:
            self.add_error("script", NO_SCRIPT)
        return self.cleaned_data

    def wanted(self) -> dict[str, Any]:
        """What the draft starts with; the source that was not chosen is left out."""
        source = self.cleaned_data["source"]
        first = self.cleaned_data.get(source)
        return {"type": "ai-visuals", **({source: first} if first else {})}
