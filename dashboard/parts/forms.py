"""Forms of scenes and exports: own media from a file or an address, and the style of an export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from dashboard.shared.forms import PortalForm
from dashboard.shared.public_addresses import MAX_ADDRESS_LENGTH, find_address_problem
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.uploads import media_files
from dashboard.shared.uploads.media_files import MediaFile, MediaFileRefused, read_media_file
from dashboard.shared.video_options import FacelessOptions
from dashboard.shared.videos.parts import EXPORT_FIELDS

FILE_SOURCE, ADDRESS_SOURCE = "file", "address"
FILE_MISSING = "Choose a file, or use an address."
ADDRESS_MISSING = "Enter the address of the picture or film."
RIGHTS_MISSING = "Confirm that you may use it."
FIELD_LABELS = {
    "caption_effect": "Caption effect",
    "caption_position": "Position",
    "font": "Font",
}


class OwnMediaForm(PortalForm):
    """A picture or film to add: a file, cleaned and known by its content, or a public address."""

    hidden_field_names = {"nonce": "the form key"}
    nonce = forms.UUIDField(widget=forms.HiddenInput)
    source = forms.ChoiceField(
        choices=[(FILE_SOURCE, "Upload a file"), (ADDRESS_SOURCE, "From an address")],
        widget=forms.RadioSelect,
        initial=FILE_SOURCE,
        label="Source",
    )
    file = forms.FileField(required=False, label="File", allow_empty_file=True)
    address = forms.CharField(required=False, label="Address", max_length=MAX_ADDRESS_LENGTH)
    rights = forms.BooleanField(label="We may use it", error_messages={"required": RIGHTS_MISSING})

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        reject_invisible(self.fields["address"])

    def clean_file(self) -> MediaFile | None:
        upload: UploadedFile[bytes] | None = self.cleaned_data.get("file")
        if upload is None or self.data.get("source") == ADDRESS_SOURCE:
            return None
        if (upload.size or 0) > media_files.MAX_MEDIA_FILE_BYTES:
            raise forms.ValidationError(media_files.TOO_LARGE)
        try:
            return read_media_file(upload.read())
        except MediaFileRefused as refused:
            raise forms.ValidationError(str(refused)) from None

    def clean(self) -> dict[str, Any]:
        chosen = super().clean() or self.cleaned_data
        if chosen.get("source") == ADDRESS_SOURCE:
            address = chosen.get("address") or ""
            problem = find_address_problem(address) if address else ADDRESS_MISSING
            if problem and "address" not in self.errors:
                self.add_error("address", problem)
        elif "file" not in self.errors and not chosen.get("file"):
            self.add_error("file", FILE_MISSING)
        return chosen

    def own_media(self) -> dict[str, Any]:
        """The arguments of `actions.add_own_media`."""
        chosen = self.cleaned_data
        is_address = chosen["source"] == ADDRESS_SOURCE
        return {
            "nonce": chosen["nonce"],
            "file": None if is_address else chosen["file"],
            "address": chosen["address"] if is_address else "",
        }


class ExportForm(PortalForm):
    """The captions of an export. A group that the service does not offer is left out."""

    def __init__(
        self,
        options: FacelessOptions,
        chosen: Mapping[str, Any],
        data: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data)
        self.upstream_values: dict[str, dict[str, int | str]] = {}
        for name in EXPORT_FIELDS:
            choices = options.choices(name)
            if not choices:
                continue
            self.upstream_values[name] = {row.value: row.upstream_value for row in choices}
            offered = str(chosen.get(name) or "")
            first = choices[0].value
            self.fields[name] = forms.ChoiceField(
                label=FIELD_LABELS[name],
                choices=[(row.value, row.name) for row in choices],
                widget=forms.RadioSelect,
                initial=offered if offered in self.upstream_values[name] else first,
            )

    def export_style(self) -> dict[str, int | str]:
        """The chosen values as the service names them."""
        return {
            name: values[self.cleaned_data[name]] for name, values in self.upstream_values.items()
        }
