"""Forms of presets and of the brand kit. Dialogs open over steps that have fields of the same
names, so the ids of their fields have a prefix of their own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from django import forms

from dashboard.models import MAX_PRESET_NAME_CHARS, BrandKit, Preset
from dashboard.shared.forms import VERSION_LABEL, PortalForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.video_options import OptionChoice
from dashboard.studio.flows import DEFAULT_FLOW, FLOWS, SettingControl
from dashboard.studio.forms.fields import OptionCard
from dashboard.studio.forms.steps import SettingField
from dashboard.studio.kept_settings.groups import (
    BRAND_KIT_FIELDS,
    FORMAT_FIELD,
    SCRIPT_GROUP,
    SETTING_GROUPS,
    VALUE_FIELDS,
    setting_label,
)
from dashboard.studio.kept_settings.kept_option import KeptOption, kept_options
from dashboard.studio.kept_settings.team_options import TeamOptions
from dashboard.studio.presets.actions.presets import preset_version
from dashboard.studio.presets.queries.save_dialog import script_request_text

GONE_SUFFIX = " (no longer offered)"
FORMAT_REQUIRED = "Choose a format. A preset always has one."


class PresetNameField(forms.CharField):
    limit = f"{MAX_PRESET_NAME_CHARS} characters"

    def __init__(self) -> None:
        super().__init__(
            label="Name",
            max_length=MAX_PRESET_NAME_CHARS,
            error_messages={"required": "Enter a name, so the team can find the preset."},
        )
        reject_invisible(self)

    def to_python(self, value: Any) -> str:
        return " ".join(str(super().to_python(value)).split())

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        """Omit maxlength: a browser would cut a pasted name without a message."""
        return {}


class SavePresetForm(PortalForm):
    """`replaces`: the preset with the same name that the member confirmed to replace."""

    name = PresetNameField()
    keep = forms.MultipleChoiceField(
        choices=[(group.name, group.label) for group in SETTING_GROUPS], required=False
    )
    replaces = forms.UUIDField(required=False)
    # A button has it: as a hidden field it would be sent again after the question was answered.
    hidden_field_names: ClassVar[Mapping[str, str]] = {"replaces": "the replacement"}

    def __init__(self, data: Any = None, *, title: str = "") -> None:
        initial = {"name": title[:MAX_PRESET_NAME_CHARS].strip()}
        super().__init__(data, initial=initial, auto_id="preset_%s", use_required_attribute=False)
        self.fields["name"].widget.attrs["autofocus"] = True


class PresetNameForm(PortalForm):
    """`seen` is the name that the form was built from."""

    name = PresetNameField()
    seen = forms.CharField(widget=forms.HiddenInput, label=VERSION_LABEL, strip=False)

    def __init__(self, data: Any = None, *, preset: Preset) -> None:
        names = {"name": preset.name, "seen": preset.name}
        super().__init__(data, initial=names, use_required_attribute=False)
        self.fields["name"].widget.attrs["autofocus"] = True


class KeptOptionField(forms.ChoiceField):
    """An option that is kept by slug: what the team's accounts offer, and the kept one even if it
    is gone."""

    def __init__(
        self,
        field: str,
        kept: KeptOption | None,
        options: TeamOptions,
        *,
        is_gone: bool,
        without: str,
    ) -> None:
        self.kept = kept
        self.offered = {option.slug: option for option in options.offered_options(field)}
        is_required = field == FORMAT_FIELD
        self.choices_without_value = [] if is_required else [("", without)]
        if kept and kept.slug not in self.offered:
            gone = (kept.slug, kept.name + (GONE_SUFFIX if is_gone else ""))
            self.choices_without_value.append(gone)
        offered = [(slug, option.name) for slug, option in self.offered.items()]
        super().__init__(
            label=setting_label(field),
            choices=[*self.choices_without_value, *offered],
            required=is_required,
            initial=kept.slug if kept else "",
            error_messages={"required": FORMAT_REQUIRED},
        )


class KeptOptionsForm(PortalForm):
    """Option fields by field name, with what is kept now."""

    without_option = "Not kept"

    def add_option_fields(
        self,
        names: tuple[str, ...],
        stored: Mapping[str, Any],
        options: TeamOptions,
        missing: Mapping[str, Any],
    ) -> None:
        kept = kept_options(stored)
        for name in names:
            field = KeptOptionField(
                name,
                kept.get(name),
                options,
                is_gone=name in missing,
                without=self.without_option,
            )
            if field.offered or field.kept:
                self.fields[name] = field

    def option_fields(self) -> dict[str, KeptOptionField]:
        return {
            name: field for name, field in self.fields.items() if isinstance(field, KeptOptionField)
        }

    @property
    def setting_fields(self) -> list[SettingField]:
        """Return the option fields; those that the studio shows as samples have cards."""
        return [self.setting_field(name, field) for name, field in self.option_fields().items()]

    def setting_field(self, name: str, field: KeptOptionField) -> SettingField:
        settings = (flow.settings[name] for flow in FLOWS.values() if name in flow.settings)
        if all(setting.control != SettingControl.SAMPLES for setting in settings):
            return SettingField(self[name], SettingControl.LIST, ())
        chosen = str(self[name].value() or "")
        choices = [
            OptionChoice(slug, option.name, slug=slug) for slug, option in field.offered.items()
        ]
        cards = tuple(OptionCard(choice, choice.value == chosen) for choice in choices)
        return SettingField(self[name], SettingControl.SAMPLES, cards)

    def changed_options(self) -> dict[str, KeptOption | None]:
        """Return the fields with another option than the kept one; None if nothing is kept. The
        form must be valid."""
        changed: dict[str, KeptOption | None] = {}
        for name, field in self.option_fields().items():
            slug = self.cleaned_data[name]
            if slug != (field.kept.slug if field.kept else ""):
                changed[name] = field.offered.get(slug)
        return changed


class PresetSettingsForm(KeptOptionsForm):
    """What a preset keeps. With `only`, the choice of another option for one setting."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput, label=VERSION_LABEL)

    def __init__(
        self, preset: Preset, options: TeamOptions, data: Any = None, *, only: str = ""
    ) -> None:
        versions = {"seen": preset_version(preset)}
        super().__init__(data, initial=versions, auto_id="kept_%s", use_required_attribute=False)
        settings = FLOWS.get(preset.type, DEFAULT_FLOW).settings
        offered = tuple(name for name in settings if name not in VALUE_FIELDS)
        names = tuple(name for name in offered if name == only) or offered
        self.add_option_fields(names, preset.options, options, preset.missing)
        self.is_single = names == (only,)
        if not self.is_single:
            self.add_check_boxes(preset)

    def add_check_boxes(self, preset: Preset) -> None:
        """Add a box for each kept thing that is no option: checked, it stays."""
        boxes = {name: f"{setting_label(name)}: {value}" for name, value in preset.values.items()}
        if preset.script_request:
            boxes[SCRIPT_GROUP.name] = (
                f"{SCRIPT_GROUP.label}: {script_request_text(preset.script_request)}"
            )
        if preset.uses_brand_kit:
            boxes["brand_kit"] = "Captions and watermark from the brand kit"
        for name, label in boxes.items():
            self.fields[f"keep_{name}"] = forms.BooleanField(
                label=label, required=False, initial=True
            )

    @property
    def kept_facts(self) -> list[tuple[str, str]]:
        """Return label and name of what is kept, for readers who cannot change it."""
        options = [
            (str(field.label), field.kept.name)
            for field in self.option_fields().values()
            if field.kept
        ]
        boxes = [
            str(field.label) for name, field in self.fields.items() if name.startswith("keep_")
        ]
        return options + [
            (first, rest) for first, _, rest in (box.partition(": ") for box in boxes)
        ]

    def dropped(self) -> set[str]:
        """Return the names of the boxes that were unchecked. The form must be valid."""
        boxes = {name for name in self.fields if name.startswith("keep_")}
        return {name.removeprefix("keep_") for name in boxes if not self.cleaned_data[name]}


class BrandKitForm(KeptOptionsForm):
    """The options of the brand kit, and whether new drafts start with them."""

    without_option = "Left to each draft"

    applies_to_new_drafts = forms.BooleanField(
        label="New drafts start with the kit", required=False
    )

    def __init__(self, kit: BrandKit | None, options: TeamOptions, data: Any = None) -> None:
        initial = {"applies_to_new_drafts": kit.applies_to_new_drafts if kit else True}
        super().__init__(data, initial=initial, auto_id="kit_%s", use_required_attribute=False)
        stored = kit.options if kit else {}
        gone = {
            name: None
            for name, kept in kept_options(stored).items()
            if options and not options.is_offered(name, kept)
        }
        self.add_option_fields(BRAND_KIT_FIELDS, stored, options, gone)

    def chosen_options(self) -> dict[str, KeptOption]:
        """Return the options of the kit. The form must be valid."""
        chosen = {
            name: field.offered.get(slug) or field.kept
            for name, field in self.option_fields().items()
            if (slug := self.cleaned_data[name])
        }
        return {name: option for name, option in chosen.items() if option}
