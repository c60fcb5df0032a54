"""The form of a script request. The service charges each request."""

from __future__ import annotations

from typing import Any

from django import forms

from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.video_options import FacelessOptions
from dashboard.studio.forms.fields import TopicField
from dashboard.studio.queries.script import SCRIPT_DURATIONS_S, spoken_duration_text

# The service has no list of styles and tones; it accepts any word.
SCRIPT_STYLES = ("Explainer", "Story", "Documentary", "List", "News")
SCRIPT_TONES = ("Calm", "Cheerful", "Serious", "Dramatic", "Curious")
DEFAULT_LANGUAGES = ("English",)


class WriteScriptForm(ConfirmForm):
    topic = TopicField(required=True)
    duration = forms.TypedChoiceField(
        label="Length",
        coerce=int,
        choices=[(seconds, spoken_duration_text(seconds)) for seconds in SCRIPT_DURATIONS_S],
        error_messages={"invalid_choice": "Choose a length from the list."},
    )
    style = forms.CharField(required=False)
    tone = forms.CharField(required=False)
    language = forms.CharField(required=False)

    no_preference = "Automatic"

    def __init__(
        self,
        options: FacelessOptions,
        data: Any = None,
        *,
        initial: dict[str, Any] | None = None,
        requires_words: bool = False,
    ) -> None:
        """`requires_words`: the service refuses a request without style, tone and language, so
        "Automatic" is no choice."""
        super().__init__(data, initial=initial, use_required_attribute=False)
        # The languages that a voice speaks.
        languages = options.languages() or DEFAULT_LANGUAGES
        words = {"style": SCRIPT_STYLES, "tone": SCRIPT_TONES, "language": languages}
        automatic = [] if requires_words else [("", self.no_preference)]
        for name, offered in words.items():
            choices = [*automatic, *((word, word) for word in offered)]
            self.fields[name] = forms.ChoiceField(required=requires_words, choices=choices)

    def focus_topic(self) -> None:
        """Start on the topic: of a whole page, because a part that is swapped must not take the
        focus from where somebody types."""
        if "topic" in self.fields:
            self.fields["topic"].widget.attrs["autofocus"] = True

    def script_request(self) -> dict[str, Any]:
        """Return the settings as fields of the service."""
        names = ("topic", "duration", "style", "tone", "language")
        return {name: self.cleaned_data[name] for name in names if name in self.cleaned_data}


class PlannedRenderForm(PortalForm):
    """What was shown of the render that starts after the script, and is confirmed with it."""

    hidden_field_names = {
        "script_price": "the price of the script",
        "limit": "the limit of the render",
        "settings": VERSION_LABEL,
    }
    script_price = forms.DecimalField(max_digits=14)
    limit = forms.DecimalField(max_digits=14, min_value=0)
    settings = forms.CharField(max_length=64)


class WritePageScriptForm(WriteScriptForm):
    """The same for a script from a web page, which `url` is the address of."""

    topic = None  # type: ignore[assignment]
    no_preference = "As the page"

    def __init__(
        self,
        options: FacelessOptions,
        data: Any = None,
        *,
        url: str,
        initial: dict[str, Any] | None = None,
        requires_words: bool = False,
    ) -> None:
        super().__init__(options, data, initial=initial, requires_words=requires_words)
        self.url = url

    def script_request(self) -> dict[str, Any]:
        return {"url": self.url, **super().script_request()}
