"""The form of a new storyboard, and the one of what the service writes scenes from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.http import QueryDict

from dashboard.shared.clip_models import ClipModel, FittedSettings, find_clip_model, fit_settings
from dashboard.shared.filter_chips import ChipOption
from dashboard.shared.forms import PortalForm
from dashboard.shared.storyboards.scene_writing import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_WRITTEN_SCENES,
    STYLES,
    USUAL_SCENE_COUNT,
)
from dashboard.shared.text_validation import reject_invisible
from dashboard.storyboards.actions.storyboards import MAX_TITLE_CHARACTERS, StoryboardStart
from proxyapi.models import StoryboardMode
from proxyapi.models.duration_class import count_words

USE_COUNT_BUTTON = "use_count"
FORMAT_FIELDS = ("aspect_ratio", "resolution", "audio")
NO_DESCRIPTION = "Describe the film, or start with empty scenes."
NO_ENGINE = "Choose one of the engines."
NUMBER_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)
# A number and "scenes", with at most one word between. Not of a range, and not of "the first two".
SCENE_COUNT_RE = re.compile(
    r"(?<![\d.,–-])(?<!\bto )(?<!\bor )(?<!\bfirst )(?<!\blast )"
    rf"\b(?P<count>\d{{1,2}}|{NUMBER_WORDS.replace(' ', '|')})(?: |-)(?:[^\W\d]+ )?scenes\b",
    re.IGNORECASE,
)
STYLE_CHOICES = [(key, style.label) for key, style in STYLES.items()]


def find_scene_count(description: str) -> int | None:
    """Return the number of scenes in a text such as `a film in six scenes`; None without one, or
    with several."""
    words = {match["count"].lower() for match in SCENE_COUNT_RE.finditer(description)}
    counts = {
        int(word) if word.isdigit() else NUMBER_WORDS.split().index(word) + 1 for word in words
    }
    count = counts.pop() if len(counts) == 1 else 0
    return count if 1 <= count <= MAX_WRITTEN_SCENES else None


def with_used_count(data: QueryDict) -> QueryDict:
    """Return what was sent, with the number of scenes of the button that takes the described one:
    a browser without scripts sends the form with it."""
    used = data.copy()
    if USE_COUNT_BUTTON in data:
        used["scene_count"] = data.get(USE_COUNT_BUTTON, "")
    return used


class WritingForm(PortalForm):
    """What the service writes scenes from."""

    description = forms.CharField(
        required=False, strip=False, max_length=MAX_DESCRIPTION_CHARACTERS
    )
    scene_count = forms.IntegerField(
        min_value=1,
        max_value=MAX_WRITTEN_SCENES,
        initial=USUAL_SCENE_COUNT,
        label="number of scenes",
    )
    style = forms.ChoiceField(choices=STYLE_CHOICES, required=False)

    def __init__(self, data: Mapping[str, Any] | None = None, **options: Any) -> None:
        super().__init__(data, **options)
        reject_invisible(self.fields["description"], lines=True)

    @property
    def needs_description(self) -> bool:
        return True

    def clean_description(self) -> str:
        text = str(self.cleaned_data["description"]).replace("\r\n", "\n").strip()
        if self.needs_description and not text:
            raise forms.ValidationError(NO_DESCRIPTION)
        return text

    @property
    def word_text(self) -> str:
        words = count_words(self.value_of("description"))
        return f"{words:,} word{'' if words == 1 else 's'}"

    @property
    def described_count(self) -> int | None:
        """Return the number of scenes that the description names, if it is not the chosen one."""
        named = find_scene_count(self.value_of("description"))
        return None if str(named) == self.value_of("scene_count") else named

    @property
    def styles(self) -> list[ChipOption]:
        chosen = self.value_of("style")
        return [ChipOption(key, label, key == chosen) for key, label in STYLE_CHOICES]

    def value_of(self, name: str) -> str:
        """Return the value as it was typed, or the first one."""
        value = self[name].value()
        return "" if value is None else str(value)


class StoryboardForm(WritingForm):
    """`models` are those of the account. Without any the engine is chosen later."""

    hidden_field_names = {"storyboard": "the storyboard"}
    storyboard = forms.UUIDField()
    title = forms.CharField(required=False, max_length=MAX_TITLE_CHARACTERS)
    mode = forms.ChoiceField(choices=StoryboardMode.choices)
    engine = forms.CharField(required=False, max_length=100)

    def __init__(
        self,
        models: Iterable[ClipModel],
        data: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(data, **options)
        self.models = tuple(models)
        reject_invisible(self.fields["title"])
        self.fields["scene_count"].required = self.needs_description

    @property
    def needs_description(self) -> bool:
        return self.value_of("mode") != StoryboardMode.MANUAL

    @property
    def chosen_model(self) -> ClipModel | None:
        return find_clip_model(self.models, self.value_of("engine"))

    @property
    def fitted(self) -> FittedSettings:
        """Return the chosen formats as far as the engine offers them."""
        if self.chosen_model is None:
            return FittedSettings({}, {})
        source = self.data if self.is_bound else self.initial
        return fit_settings(self.chosen_model, {name: source.get(name) for name in FORMAT_FIELDS})

    def clean_engine(self) -> str:
        if self.chosen_model is None:
            if self.models:
                raise forms.ValidationError(NO_ENGINE)
            return ""
        return self.chosen_model.slug

    def clean_title(self) -> str:
        return " ".join(self.cleaned_data["title"].split())

    def start(self) -> StoryboardStart:
        """Return what is started, of a valid form."""
        chosen, formats = self.cleaned_data, self.fitted.settings
        return StoryboardStart(
            storyboard_id=chosen["storyboard"],
            title=chosen["title"],
            mode=StoryboardMode(chosen["mode"]),
            description=chosen["description"],
            style=chosen["style"],
            scene_count=chosen["scene_count"] or USUAL_SCENE_COUNT,
            engine=chosen["engine"],
            formats={name: str(formats.get(name) or "") for name in FORMAT_FIELDS},
        )
