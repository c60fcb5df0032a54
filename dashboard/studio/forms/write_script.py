"""The form of a script request. The service charges each request."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.forms.fields import TopicField
from dashboard.studio.queries.script import SCRIPT_DURATIONS_S, spoken_duration_text

# The service has no list of styles and tones; it accepts any word.
SCRIPT_STYLES = ("Explainer", "Story", "Documentary", "List", "News")
SCRIPT_TONES = ("Calm", "Cheerful", "Serious", "Dramatic", "Curious")
NO_PREFERENCE = [("", "Automatic")]


class WriteScriptForm(ConfirmForm):
    topic = TopicField(required=True)
    duration = forms.TypedChoiceField(
        label="Length",
        coerce=int,
        choices=[(seconds, spoken_duration_text(seconds)) for seconds in SCRIPT_DURATIONS_S],
        error_messages={"invalid_choice": "Choose a length from the list."},
    )
    style = forms.ChoiceField(
        required=False, choices=NO_PREFERENCE + [(word, word) for word in SCRIPT_STYLES]
    )
    tone = forms.ChoiceField(
        required=False, choices=NO_PREFERENCE + [(word, word) for word in SCRIPT_TONES]
    )
    language = forms.CharField(required=False)

    def __init__(
        self, options: FacelessOptions, data: Any = None, *, initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=initial, use_required_attribute=False)
        # The languages that a voice speaks.
        choices = NO_PREFERENCE + [(word, word) for word in options.languages()]
        self.fields["language"] = forms.ChoiceField(required=False, choices=choices)

    def script_request(self) -> dict[str, Any]:
        """Return the settings as arguments of `write_script`."""
        names = ("topic", "duration", "style", "tone", "language")
        return {name: self.cleaned_data[name] for name in names}
