"""The quick start: one text, which is read as a topic, a script or a link, and a few choices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms

from dashboard.shared.forms import PortalForm
from dashboard.shared.video_options import FacelessOptions, OptionChoice
from dashboard.studio.flows import FLOWS, Flow
from dashboard.studio.forms.fields import MultilineTextField, OptionCard, ScriptField
from dashboard.studio.forms.page_address import normalize_page_address
from dashboard.studio.queries.defaults import FORMAT_FIELD, StartChoices
from dashboard.studio.queries.script import SCRIPT_DURATIONS_S, spoken_duration_text
from dashboard.studio.queries.start_text import StartKind, StartText, read_start_text

LINK_TYPE = "url-based"
NOTHING_ENTERED = "Enter a topic, a script or a link, or choose a type below."
SEVERAL_LINKS = "Enter one link. A video is made from a single page."
LINK_HAS_TYPE = (
    "A link becomes a video from its web page. Press Continue, or enter a topic for the other type."
)
CHARACTER_FIELD = "character_id"
CHARACTER_NOT_OFFERED = (
    "Your account at the service does not offer this character. Characters belong to the account "
    "that they were trained on."
)
UNTITLED = "Untitled video"
VOICE_FIELD = "voice_id"
VOICE_NOT_OFFERED = "Your account does not have this voice. Choose another one in the draft."


class QuickStartForm(PortalForm):
    """`flow` is the type of a card that was pressed: it needs no text, and overrides `type`.
    `voice_id` is a voice that was pressed, which needs no text either."""

    start = MultilineTextField(
        required=False,
        label="Topic, script or link",
        widget=forms.Textarea(
            attrs={
                "rows": 1,
                "class": "input--lead",
                "placeholder": "Why lakes freeze from the top",
                "aria-describedby": "id_start_help",
                "autofocus": True,
            }
        ),
    )
    read_as = forms.ChoiceField(
        choices=[(kind.value, kind.value) for kind in StartKind],
        required=False,
        widget=forms.HiddenInput,
        label="the reading of the text",
    )
    type = forms.ChoiceField(required=False)
    duration = forms.TypedChoiceField(
        required=False,
        label="Length",
        coerce=int,
        empty_value=None,
        choices=[(seconds, spoken_duration_text(seconds)) for seconds in SCRIPT_DURATIONS_S],
    )
    flow = forms.ChoiceField(
        required=False, choices=[(flow.type, flow.label) for flow in FLOWS.values()]
    )
    character_id = forms.CharField(required=False, widget=forms.HiddenInput, label="the character")
    voice_id = forms.CharField(required=False, max_length=64, widget=forms.HiddenInput)

    def __init__(self, choices: StartChoices, options: FacelessOptions, data: Any = None) -> None:
        super().__init__(data, initial=asdict(choices), use_required_attribute=False)
        text, read_as = (str((data or {}).get(name, "")) for name in ("start", "read_as"))
        self.characters = options.choices(CHARACTER_FIELD)
        self.reading: StartText = read_start_text(text, read_as, takes_links=LINK_TYPE in FLOWS)
        self.formats = options.choices(FORMAT_FIELD)
        self.voices = options.choices(VOICE_FIELD)
        self.fields["type"] = forms.ChoiceField(required=False, choices=self.type_choices())
        offered = [(choice.value, choice.name) for choice in self.formats]
        self.fields[FORMAT_FIELD] = forms.ChoiceField(
            required=False, label="Format", choices=offered
        )

    def type_choices(self) -> list[tuple[str, str]]:
        """Return the types for this text: a link has a type of its own."""
        is_link = self.reading.kind == StartKind.LINK
        return [
            (flow.type, flow.label)
            for flow in FLOWS.values()
            if (flow.type == LINK_TYPE) == is_link
        ]

    @property
    def chosen_flow(self) -> Flow:
        """Return the type that a draft would have; of an unbound form, the preselected one."""
        pressed = str(self.data.get("flow", ""))
        offered = dict(self.type_choices())
        chosen = str(self["type"].value() or "")
        return FLOWS.get(pressed) or FLOWS[chosen if chosen in offered else next(iter(offered))]

    @property
    def chosen_duration(self) -> int:
        """Return the length in seconds that is chosen now."""
        value = self["duration"].value()
        return next((s for s in SCRIPT_DURATIONS_S if str(s) == str(value)), SCRIPT_DURATIONS_S[1])

    @property
    def format_cards(self) -> tuple[OptionCard, ...]:
        """Return the formats, the first one chosen unless the form has another choice."""
        value = str(self[FORMAT_FIELD].value() or "")
        if value not in {choice.value for choice in self.formats}:
            value = self.formats[0].value if self.formats else ""
        return tuple(OptionCard(choice, choice.value == value) for choice in self.formats)

    @property
    def chosen_format(self) -> dict[str, Any]:
        """Return the setting of the format that is chosen now."""
        chosen = next((card.choice for card in self.format_cards if card.chosen), None)
        return {FORMAT_FIELD: chosen.upstream_value} if chosen else {}

    def clean_flow(self) -> str:
        """Refuse a type that is not made from a web page for a link."""
        pressed = str(self.cleaned_data["flow"])
        if pressed and pressed != LINK_TYPE and self.reading.kind == StartKind.LINK:
            self.add_error("start", LINK_HAS_TYPE)
        return pressed

    def clean_character_id(self) -> str:
        """Refuse a character that the reader's account does not offer."""
        chosen = str(self.cleaned_data[CHARACTER_FIELD])
        if chosen and chosen not in {choice.value for choice in self.characters}:
            raise forms.ValidationError(CHARACTER_NOT_OFFERED)
        return chosen

    def clean(self) -> dict[str, Any]:
        reading = self.reading
        if reading.kind == StartKind.LINK:
            self.errors.pop("type", None)  # chosen before the link was entered; it has its own
        for name in self.errors.keys() & {"type", "duration", FORMAT_FIELD, "flow"}:
            self.add_error(None, f"{self.fields[name].label or 'Type'}: {self.errors.pop(name)[0]}")
        if "start" in self.errors:
            return self.cleaned_data
        voice_id = self.cleaned_data.get("voice_id")
        if voice_id and self.chosen_voice is None:
            self.add_error(None, VOICE_NOT_OFFERED)
        if not reading.text and not self.cleaned_data.get("flow") and not voice_id:
            self.add_error("start", NOTHING_ENTERED)
        if len(reading.urls) > 1 and "".join(reading.urls) == "".join(reading.text.split()):
            self.add_error("start", SEVERAL_LINKS)
        try:
            if reading.kind == StartKind.SCRIPT:
                ScriptField(required=True, rows=1).clean(reading.text)
            elif self.page_url:
                normalize_page_address(self.page_url)
        except forms.ValidationError as error:
            self.add_error("start", error)
        return self.cleaned_data

    @property
    def sent_values(self) -> list[tuple[str, str]]:
        """Return what was sent, to send it again."""
        return [(name, str(self.data[name])) for name in self.fields if name in self.data]

    @property
    def page_url(self) -> str:
        """Return the address of the page that the draft is made from; empty for another type."""
        is_page = self.reading.kind == StartKind.LINK and self.chosen_flow.reads_page
        return self.reading.url if is_page else ""

    @property
    def title(self) -> str:
        return self.reading.title or UNTITLED

    def draft_settings(self) -> dict[str, Any]:
        """Return the settings that were chosen here; the others are the defaults of the type."""
        reading, cleaned = self.reading, self.cleaned_data
        chosen: dict[str, Any] = {"type": self.chosen_flow.type}
        if reading.text and self.chosen_flow.type != LINK_TYPE:
            chosen[reading.kind.value] = reading.text
        ratio = next((c for c in self.formats if c.value == cleaned.get(FORMAT_FIELD)), None)
        chosen |= {
            field: choice.upstream_value
            for field, choice in ((FORMAT_FIELD, ratio), (VOICE_FIELD, self.chosen_voice))
            if choice is not None
        }
        if character := cleaned.get(CHARACTER_FIELD):
            chosen[CHARACTER_FIELD] = character
        return chosen

    @property
    def chosen_voice(self) -> OptionChoice | None:
        voice_id = self.cleaned_data.get("voice_id")
        return next((choice for choice in self.voices if choice.value == voice_id), None)

    def script_request(self) -> dict[str, Any]:
        """Return what the form of a script starts with; an own script needs none."""
        if self.reading.kind == StartKind.SCRIPT:
            return {}
        return {"duration": self.cleaned_data["duration"] or self.chosen_duration}
