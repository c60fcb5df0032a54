"""Fields that the studio's forms share: a title, a text, a script, one of the service's options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django import forms

from dashboard.queries.studio.options import BOX, Choice, Options
from dashboard.queries.studio.script import MAX_WORDS, length_of
from dashboard.queries.studio.steps import LABELS
from dashboard.visible_text import refuse_unseen

TITLE_LENGTH = 200
TOPIC_LENGTH = 500
SCRIPT_LENGTH = 30_000  # the spec shows none; more is no 20 minutes in any language
LIMITS = {"data-count": str(MAX_WORDS), "data-characters": str(SCRIPT_LENGTH)}
NO_TITLE = "A video needs a title, for the team to find it by."
NO_TOPIC = "Say what the script is about."
NO_SCRIPT = "Write or paste a script first, or have the service write one."
GONE = "The service does not offer this any more. Choose another one."
NO_CHOICE = {
    "aspect_ratio": "Choose a format.",
    "voice_id": "Choose a voice.",
    "genre_id": "Choose a genre. AI visuals cannot be rendered without one.",
    "image_engine_id": "Choose an image engine.",
}


class Words(forms.CharField):
    """A text as typed, with one kind of line end and nothing invisible around it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        refuse_unseen(self, lines=True)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")


class Title(forms.CharField):
    limit = f"{TITLE_LENGTH} characters"

    def __init__(self) -> None:
        super().__init__(max_length=TITLE_LENGTH, error_messages={"required": NO_TITLE})
        refuse_unseen(self)


class Topic(Words):
    limit = f"{TOPIC_LENGTH} characters"

    def __init__(self, *, required: bool) -> None:
        super().__init__(
            required=required,
            max_length=TOPIC_LENGTH,
            widget=forms.Textarea(attrs={"rows": 3}),
            error_messages={"required": NO_TOPIC},
        )


class Script(Words):
    """An own script: not empty where it is required, and not longer than a video can be."""

    limit = f"up to {MAX_WORDS:,} words, {SCRIPT_LENGTH:,} characters"

    def __init__(self, *, required: bool, rows: int) -> None:
        super().__init__(
            required=required,
            max_length=SCRIPT_LENGTH,
            widget=forms.Textarea(attrs={"rows": rows, **LIMITS}),
            error_messages={"required": NO_SCRIPT},
        )

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Without maxlength: a browser would cut what is pasted, and say nothing."""
        return {}

    def validate(self, value: str) -> None:
        super().validate(value)
        words = length_of(value).words
        if words > MAX_WORDS:
            raise forms.ValidationError(
                f"{words:,} words are too many. At most {MAX_WORDS:,} fit into 20 minutes, the "
                f"longest video the service writes for. Shorten it by {words - MAX_WORDS:,}."
            )


@dataclass(frozen=True, slots=True)
class Offered:
    """One value as a card: a radio with words, a format with its drawing."""

    choice: Choice
    chosen: bool

    @property
    def inset(self) -> tuple[float, float]:
        """Where a drawn format stands in its box, in px."""
        wide, high = self.choice.shape or (BOX, BOX)
        return (BOX - wide) / 2, (BOX - high) / 2


class OptionField(forms.ChoiceField):
    """One of the values that the service offers for a field.

    `empty` names the choice of none, offered only until one was made: a choice can be changed and
    not taken back, because the service keeps what it has.
    """

    def __init__(self, name: str, options: Options, *, empty: str, chosen: Any) -> None:
        self.offered = {one.value: one for one in options.choices(name)}
        choices = [(value, one.name) for value, one in self.offered.items()]
        if empty and not chosen:
            choices.insert(0, ("", empty))
        super().__init__(
            label=LABELS[name],
            choices=choices,
            required=bool(self.offered) and not empty,
            error_messages={"required": NO_CHOICE.get(name, ""), "invalid_choice": GONE},
        )

    def clean(self, value: Any) -> Any:
        """The value as the service sends it (an id stays a number), or nothing."""
        one = self.offered.get(super().clean(value))
        return one.sent if one else ""
