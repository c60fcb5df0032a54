"""The composer's form: nothing of it is refused but what cannot be kept, so that nothing typed is
lost. What is missing for a clip is said beside the button (`readiness`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from dashboard.shared.clip_models import (
    ClipModel,
    FittedSettings,
    ReferenceSlot,
    find_clip_model,
    fit_settings,
)
from dashboard.shared.forms import PortalForm, UploadField
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.uploads import media_files
from dashboard.shared.uploads.media_files import MediaFile, MediaFileRefused, read_media_file
from proxyapi.kinds import OPTION_FIELDS

MAX_PROMPT_CHARACTERS = 60_000  # a document that was pasted is kept; the words are counted
NO_MODEL = "Choose one of the models."
NOT_A_PICTURE = "Choose a PNG, JPG or WebP picture for this."
NOT_A_FILM = "Choose an MP4 film for this."
PICTURE_EXTENSIONS = ("png", "jpg", "webp")


class ClipForm(PortalForm):
    """`models` are those of the account; a field for each file that the chosen one takes is added.

    `removal` is the name of a reference to remove.
    """

    hidden_field_names = {"draft": "the draft", "edited_at": "the version of the draft"}
    draft = forms.UUIDField()
    edited_at = forms.CharField(required=False, max_length=40)
    prompt = forms.CharField(required=False, strip=False, max_length=MAX_PROMPT_CHARACTERS)
    model = forms.CharField(required=False, max_length=100)
    removal = forms.CharField(required=False, max_length=20)

    def __init__(
        self,
        models: Iterable[ClipModel],
        data: Mapping[str, Any],
        files: MultiValueDict[str, UploadedFile[Any]],
    ) -> None:
        super().__init__(data, files)
        reject_invisible(self.fields["prompt"], lines=True)
        self.chosen_model = find_clip_model(models, self.data.get("model"))
        for slot in self.slots:
            self.fields[f"file-{slot.name}"] = UploadField(required=False)

    @property
    def slots(self) -> tuple[ReferenceSlot, ...]:
        return self.chosen_model.slots if self.chosen_model else ()

    @property
    def fitted(self) -> FittedSettings:
        """Return the posted options as far as the model offers them."""
        if self.chosen_model is None:
            return FittedSettings({}, {})
        posted = {name: self.data.get(name) for name in OPTION_FIELDS}
        return fit_settings(self.chosen_model, posted)

    def clean_model(self) -> str:
        if self.chosen_model is None:
            raise forms.ValidationError(NO_MODEL)
        return self.chosen_model.slug

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        for slot in self.slots:
            name = f"file-{slot.name}"
            if chosen.get(name):
                try:
                    chosen[name] = read_reference_file(slot, chosen[name])
                except MediaFileRefused as refused:
                    self.add_error(name, str(refused))
        return chosen

    def clip_settings(self) -> dict[str, Any]:
        """Return the settings of the draft, without references."""
        prompt = self.cleaned_data["prompt"].replace("\r\n", "\n")
        return {**self.fitted.settings, "prompt": prompt}

    def changed_files(self) -> dict[str, MediaFile | None]:
        """Return the uploaded files by reference; None for the one to remove."""
        posted = ((slot.name, self.cleaned_data.get(f"file-{slot.name}")) for slot in self.slots)
        files: dict[str, MediaFile | None] = {name: file for name, file in posted if file}
        removal = self.cleaned_data.get("removal")
        return {**files, removal: None} if removal else files

    def file_errors(self) -> dict[str, str]:
        """Return the first error of each file, by reference."""
        names = {f"file-{slot.name}": slot.name for slot in self.slots}
        return {
            names[field]: str(lines[0]) for field, lines in self.errors.items() if field in names
        }


def read_reference_file(slot: ReferenceSlot, upload: UploadedFile[bytes]) -> MediaFile:
    """Return the file without its metadata. Raises `MediaFileRefused`."""
    if (upload.size or 0) > media_files.MAX_MEDIA_FILE_BYTES:
        raise MediaFileRefused(media_files.TOO_LARGE)
    file = read_media_file(upload.read())
    if slot.takes_film and file.extension != "mp4":
        raise MediaFileRefused(NOT_A_FILM)
    if not slot.takes_film and file.extension not in PICTURE_EXTENSIONS:
        raise MediaFileRefused(NOT_A_PICTURE)
    return file
