"""Forms of a voice that is about to be cloned: what it is called and whose it is, its samples, and
the answer to its price question."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils import timezone

from dashboard.shared.forms import PortalForm
from dashboard.shared.price_question import ConfirmForm
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.uploads.recordings import (
    MAX_RECORDING_BYTES,
    RECORDING_TOO_LARGE,
    Recording,
    RecordingRefused,
    read_recording,
)
from dashboard.voices.clone_settings import ANOTHER_VOICE, GENDERS, OWN_VOICE

MAX_VOICE_NAME_CHARS, MAX_SPEAKER_CHARS = 60, 100
AGREED_IN_FUTURE = "The agreement cannot be in the future."
NO_SAMPLE_CHOSEN = "Choose a recording first."


class VoiceForm(PortalForm):
    """Everything but the samples. Nothing is required to save a draft; what is missing is listed in
    the price card."""

    hidden_field_names = {"seen": "the version of the draft"}
    name = forms.CharField(required=False, max_length=MAX_VOICE_NAME_CHARS, label="Name")
    gender = forms.ChoiceField(required=False, choices=list(GENDERS.items()), label="Gender")
    whose = forms.ChoiceField(
        required=False, choices=[(OWN_VOICE, OWN_VOICE), (ANOTHER_VOICE, ANOTHER_VOICE)]
    )
    speaker = forms.CharField(required=False, max_length=MAX_SPEAKER_CHARS, label="Full name")
    agreed_on = forms.DateField(
        required=False, label="Agreed on", error_messages={"invalid": "Enter a date."}
    )
    terms = forms.BooleanField(required=False)
    purchase_addon = forms.BooleanField(required=False)
    seen = forms.CharField(required=False, max_length=40, widget=forms.HiddenInput)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for name in ("name", "speaker"):
            reject_invisible(self.fields[name])

    def clean_agreed_on(self) -> Any:
        agreed_on = self.cleaned_data["agreed_on"]
        if agreed_on and agreed_on > timezone.localdate():
            raise forms.ValidationError(AGREED_IN_FUTURE)
        return agreed_on

    def draft_settings(self) -> dict[str, Any]:
        """The settings of the draft, as `CloneSettings` reads them."""
        chosen = self.cleaned_data
        agreed_on = chosen["agreed_on"]
        return {
            "name": " ".join(chosen["name"].split()),
            "gender": chosen["gender"],
            "whose": chosen["whose"],
            "speaker": " ".join(chosen["speaker"].split()),
            "agreed_on": agreed_on.isoformat() if agreed_on else "",
            "terms": chosen["terms"],
            "purchase_addon": chosen["purchase_addon"],
        }


class CloneConfirmForm(ConfirmForm):
    """The answer to the price question, with the version of the draft that it was shown for."""

    hidden_field_names = {**ConfirmForm.hidden_field_names, "edited_at": "the version of the draft"}
    edited_at = forms.CharField(max_length=40, widget=forms.HiddenInput)

    def charge_arguments(self) -> dict[str, Any]:
        return {**super().charge_arguments(), "edited_at": self.cleaned_data["edited_at"]}


def read_samples(files: Iterable[UploadedFile[bytes]]) -> tuple[list[tuple[str, Recording]], str]:
    """Return the usable recordings with their names, and a sentence about the first other one.

    A file that is too large is not read.
    """
    recordings, problem = list[tuple[str, Recording]](), ""
    for file in files:
        name = clean_file_name(str(file.name))
        try:
            if (file.size or 0) > MAX_RECORDING_BYTES:
                raise RecordingRefused(RECORDING_TOO_LARGE)
            recordings.append((name, read_recording(file.read())))
        except RecordingRefused as refused:
            problem = problem or f"“{name}”: {refused}"
    if not recordings and not problem:
        problem = NO_SAMPLE_CHOSEN
    return recordings, problem


def clean_file_name(name: str) -> str:
    """The name without characters that nobody sees, not longer than is kept."""
    return "".join(sign for sign in name if sign.isprintable()).strip()[-100:] or "recording"
