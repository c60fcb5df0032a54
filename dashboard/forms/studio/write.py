"""What the service is asked to write a script about. It charges each time it is sent."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.forms.plain import PlainForm
from dashboard.forms.studio.fields import Topic
from dashboard.queries.studio.options import Options
from dashboard.queries.studio.script import DURATIONS, span

# Ours: the service shows no list of styles and tones, and takes words.
STYLES = ("Explainer", "Story", "Documentary", "List", "News")
TONES = ("Calm", "Cheerful", "Serious", "Dramatic", "Curious")
ANY = [("", "As the topic suggests")]


class WriteForm(PlainForm):
    drawn_hidden = {"nonce": "its own number", "price": "the price"}
    nonce = forms.UUIDField(widget=forms.HiddenInput)
    # The one on the button, drawn anew with it.
    price = forms.DecimalField(max_digits=14)
    topic = Topic(required=True)
    duration = forms.TypedChoiceField(
        label="Length",
        coerce=int,
        choices=[(seconds, span(seconds)) for seconds in DURATIONS],
        error_messages={"invalid_choice": "The service writes for the lengths in the list only."},
    )
    style = forms.ChoiceField(required=False, choices=ANY + [(word, word) for word in STYLES])
    tone = forms.ChoiceField(required=False, choices=ANY + [(word, word) for word in TONES])
    language = forms.CharField(required=False)

    def __init__(
        self, options: Options, data: Any = None, *, initial: dict[str, Any] | None = None
    ) -> None:
        super().__init__(data, initial=initial, use_required_attribute=False)
        # The languages that a voice can read.
        choices = ANY + [(word, word) for word in options.languages()]
        self.fields["language"] = forms.ChoiceField(required=False, choices=choices)

    def asked_for(self) -> dict[str, Any]:
        """As `actions.studio.write_script` takes it."""
        chosen = dict(self.cleaned_data)
        return {"seen": chosen.pop("price"), **chosen}
