"""The form of the scene that is picked. It is built from the values that were shown (`…_seen`), so
that a field that somebody else changed meanwhile is not overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.datastructures import MultiValueDict

from dashboard.shared.clip_models import ClipModel
from dashboard.shared.forms import PortalForm, UploadField
from dashboard.shared.storyboards.scene_edits import SceneFieldChange, field_version
from dashboard.shared.storyboards.scene_states import nearest_duration
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.uploads import media_files
from dashboard.shared.uploads.media_files import MediaFile, MediaFileRefused, read_media_file

MAX_PROMPT_CHARACTERS = 60_000  # a document that was pasted is kept; the words are counted
MAX_DURATION_S = 3600  # of an engine whose durations are not known
NOT_OFFERED = "{seconds} s is not offered by {engine}. Nearest: {nearest} s."
NOT_A_PICTURE = "Choose a PNG, JPG or WebP picture for this."
PICTURE_EXTENSIONS = ("png", "jpg", "webp")
FIELD_NAMES = ("prompt", "duration", "is_chained")


class SceneForm(PortalForm):
    """`overwrite` names the field that is saved over somebody else's change."""

    hidden_field_names = {f"{name}_seen": "the version of the scene" for name in FIELD_NAMES}
    prompt = forms.CharField(required=False, strip=False, max_length=MAX_PROMPT_CHARACTERS)
    duration = forms.IntegerField(required=False, min_value=1, max_value=MAX_DURATION_S)
    is_chained = forms.BooleanField(required=False)
    prompt_seen = forms.CharField(required=False, max_length=16)
    duration_seen = forms.CharField(required=False, max_length=16)
    is_chained_seen = forms.CharField(required=False, max_length=16)
    overwrite = forms.CharField(required=False, max_length=20)

    def __init__(self, engine: ClipModel | None, data: Mapping[str, Any]) -> None:
        super().__init__(data)
        self.engine = engine
        reject_invisible(self.fields["prompt"], lines=True)

    def clean_prompt(self) -> str:
        return str(self.cleaned_data["prompt"]).replace("\r\n", "\n")

    def clean_duration(self) -> int | None:
        seconds: int | None = self.cleaned_data["duration"]
        is_same = field_version(seconds) == self.data.get("duration_seen")
        nearest = None if seconds is None or is_same else nearest_duration(self.engine, seconds)
        if nearest is not None and self.engine is not None:
            text = NOT_OFFERED.format(seconds=seconds, engine=self.engine.name, nearest=nearest)
            raise forms.ValidationError(text)
        return seconds

    def changes(self) -> list[SceneFieldChange]:
        """Return the fields that the form has, and that differ from what it was built from."""
        posted = [name for name in FIELD_NAMES if self.data.get(f"{name}_seen")]
        changes = []
        for name in posted:
            value, seen = self.cleaned_data.get(name), self.cleaned_data.get(f"{name}_seen", "")
            if name in self.errors or value is None or field_version(value) == seen:
                continue
            is_forced = self.cleaned_data.get("overwrite") == name
            changes.append(SceneFieldChange(name, value, "" if is_forced else seen))
        return changes


class FrameForm(PortalForm):
    """A picture for a frame, or `removal`."""

    removal = forms.BooleanField(required=False)
    origin = forms.CharField(required=False, max_length=100)

    def __init__(
        self, name: str, data: Mapping[str, Any], files: MultiValueDict[str, UploadedFile[Any]]
    ) -> None:
        super().__init__(data, files)
        self.file_field = f"file-{name}"
        self.fields[self.file_field] = UploadField(required=False, label="picture")

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        upload = chosen.get(self.file_field)
        if upload is None and not chosen.get("removal") and self.file_field not in self.errors:
            self.add_error(self.file_field, NOT_A_PICTURE)
        elif upload is not None:
            try:
                chosen["picture"] = read_picture(upload)
            except MediaFileRefused as refused:
                self.add_error(self.file_field, str(refused))
        return chosen


def read_picture(upload: UploadedFile[bytes]) -> MediaFile:
    """Return the picture without its metadata. Raises `MediaFileRefused`."""
    if (upload.size or 0) > media_files.MAX_MEDIA_FILE_BYTES:
        raise MediaFileRefused(media_files.TOO_LARGE)
    file = read_media_file(upload.read())
    if file.extension not in PICTURE_EXTENSIONS:
        raise MediaFileRefused(NOT_A_PICTURE)
    return file
