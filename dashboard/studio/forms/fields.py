"""Form fields of the studio: a title, a text, a script, an option of the service."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from django import forms

from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.video_options import FORMAT_ICON_PX, FacelessOptions, OptionChoice
from dashboard.studio.flows import OptionSetting
from dashboard.studio.queries.script import MAX_SCRIPT_WORDS, script_length

MAX_TITLE_LENGTH = 200
MAX_TOPIC_LENGTH = 500
MAX_SCRIPT_LENGTH = 30_000  # the spec has no limit; more exceeds 20 minutes in any language
SCRIPT_ATTRS = {
    "dir": "auto",
    "data-count": str(MAX_SCRIPT_WORDS),
    "data-characters": str(MAX_SCRIPT_LENGTH),
}
TITLE_REQUIRED = "Enter a title, so the team can find the video."
TOPIC_REQUIRED = "Enter a topic."
SCRIPT_REQUIRED = "Enter a script, or have the service write one."
OPTION_NOT_OFFERED = "The service no longer offers this. Choose another one."
LEFT_TO_SERVICE_LABEL = "Standard"
NOT_OFFERED_LABEL = "{} (no longer offered)"


class MultilineTextField(forms.CharField):
    """A text with uniform line ends and without invisible characters."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(**arguments)
        reject_invisible(self, lines=True)

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n").replace("\r", "\n")


class TitleField(forms.CharField):
    limit = f"{MAX_TITLE_LENGTH} characters"

    def __init__(self) -> None:
        super().__init__(max_length=MAX_TITLE_LENGTH, error_messages={"required": TITLE_REQUIRED})
        reject_invisible(self)


class TopicField(MultilineTextField):
    limit = f"{MAX_TOPIC_LENGTH} characters"

    def __init__(self, *, required: bool) -> None:
        super().__init__(
            required=required,
            max_length=MAX_TOPIC_LENGTH,
            widget=forms.Textarea(attrs={"rows": 3, "dir": "auto"}),
            error_messages={"required": TOPIC_REQUIRED},
        )


class ScriptField(MultilineTextField):
    """A member's own script, not longer than a video can be."""

    limit = f"up to {MAX_SCRIPT_WORDS:,} words, {MAX_SCRIPT_LENGTH:,} characters"

    def __init__(self, *, required: bool, rows: int) -> None:
        super().__init__(
            label="Text",  # its card is called Script
            required=required,
            max_length=MAX_SCRIPT_LENGTH,
            widget=forms.Textarea(attrs={"rows": rows, **SCRIPT_ATTRS}),
            error_messages={"required": SCRIPT_REQUIRED},
        )

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Omit maxlength: a browser would cut pasted text without a message."""
        return {}

    def validate(self, value: str) -> None:
        super().validate(value)
        words = script_length(value).words
        if words > MAX_SCRIPT_WORDS:
            raise forms.ValidationError(
                f"{words:,} words are too many. The limit is {MAX_SCRIPT_WORDS:,} words (20 "
                f"minutes). Shorten it by {words - MAX_SCRIPT_WORDS:,}."
            )


@dataclass(frozen=True, slots=True)
class OptionCard:
    """A value as a radio button with text: a format with its drawing, a genre with a still.

    `still_url`: a frame of the team's newest film with this value, or the picture of a character;
    `drawing`: the name of a drawing in `static/stills` or of a symbol.
    """

    choice: OptionChoice
    chosen: bool
    still_url: str = ""
    drawing: str = ""

    @property
    def inset(self) -> tuple[float, float]:
        """Return the position of a drawn format in its box, in px."""
        wide, high = self.choice.shape or (FORMAT_ICON_PX, FORMAT_ICON_PX)
        return (FORMAT_ICON_PX - wide) / 2, (FORMAT_ICON_PX - high) / 2

    @property
    def words(self) -> str:
        """Return the words of slug and name, such as `bold sans`, by which it can be drawn."""
        text = f"{self.choice.slug} {self.choice.name}".lower()
        return " ".join(sorted(set(re.findall("[a-z]+", text))))

    @property
    def corner(self) -> str:
        """Return the corner of a watermark position such as `bottom-right`; empty if the value
        names none."""
        words = set(self.words.split())
        corners = (f"{high}-{side}" for high in ("top", "bottom") for side in ("left", "right"))
        return next((corner for corner in corners if words.issuperset(corner.split("-"))), "")


class OptionField(forms.ChoiceField):
    """A choice among the values that the service offers for a setting.

    An optional setting also offers "no choice". If the service has a value, it is told so by null;
    the spec does not say that it accepts null, so a refusal is shown at the field. A chosen value
    that is no longer offered stays until another one is chosen; `choices_without_value` has these
    two.
    """

    def __init__(
        self,
        setting: OptionSetting,
        options: FacelessOptions,
        chosen: Any = None,
        *,
        is_partial: bool = False,
    ) -> None:
        self.setting, self.chosen = setting, chosen
        self.offered = {choice.value: choice for choice in options.choices(setting.name)}
        self.choices_without_value = [("", LEFT_TO_SERVICE_LABEL)] if setting.is_optional else []
        if setting.is_optional and chosen and str(chosen) not in self.offered:
            gone = (str(chosen), NOT_OFFERED_LABEL.format(chosen))
            self.choices_without_value.append(gone)
        offered = [(value, choice.name) for value, choice in self.offered.items()]
        super().__init__(
            label=setting.label,
            choices=[*self.choices_without_value, *offered],
            required=bool(self.offered) and not is_partial and not setting.is_optional,
            error_messages={
                "required": setting.required_error,
                "invalid_choice": OPTION_NOT_OFFERED,
            },
        )

    def clean(self, value: Any) -> Any:
        """Return the value in the type of the service (an id stays a number), or ""."""
        text = super().clean(value)
        choice = self.offered.get(text)
        return choice.upstream_value if choice else text and self.chosen
