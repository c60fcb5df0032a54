"""Forms of the steps of a character: photo, genre, preview, details."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from dashboard.shared.forms import PortalForm, UploadField
from dashboard.shared.text_validation import reject_invisible
from dashboard.shared.uploads import pictures
from dashboard.shared.uploads.pictures import Photo, PhotoRefused, read_photo
from proxyapi.models import Job, JobPart
from proxyapi.models.job_part import PREVIEWS
from proxyapi.refusals import Refusal

MAX_NAME_CHARS = 60
MAX_FILE_NAME_CHARS = 100
MIN_AGE_YEARS, MAX_AGE_YEARS = 1, 120
PHOTO_MISSING = "Choose a photo."
RIGHTS_MISSING = "Confirm that you may use this photo."
GENRE_MISSING = "Choose a genre."
PREVIEW_MISSING = "Choose a picture. If none fits, preview again."
PICTURE_GONE = "This picture is not there any more. Choose another one."
MIN_PHOTO_SIDE_PX = 256  # below it no face is recognised
PHOTO_TOO_SMALL = (
    "The picture has {width} × {height} pixels. The shorter side needs at least "
    f"{MIN_PHOTO_SIDE_PX}, better 512."
)
GENDERS = (("female", "Female"), ("male", "Male"), ("neutral", "Neutral"))


class PhotoForm(PortalForm):
    """A photo, known by its content and without its metadata, and the right to use it."""

    file = UploadField(label="Photo", error_messages={"required": PHOTO_MISSING})
    rights = forms.BooleanField(
        label="I may use this photo", error_messages={"required": RIGHTS_MISSING}
    )

    def clean_file(self) -> Photo:
        upload: UploadedFile[bytes] = self.cleaned_data["file"]
        if (upload.size or 0) > pictures.MAX_PHOTO_BYTES:
            raise forms.ValidationError(pictures.PHOTO_TOO_LARGE)
        try:
            photo = read_photo(upload.read())
        except PhotoRefused as refused:
            raise forms.ValidationError(str(refused)) from None
        if min(photo.width, photo.height) < MIN_PHOTO_SIDE_PX:
            size = {"width": photo.width, "height": photo.height}
            raise forms.ValidationError(PHOTO_TOO_SMALL.format(**size))
        return photo

    @property
    def file_name(self) -> str:
        """The member's name for the file, as far as it can be printed."""
        name = str(getattr(self.files.get("file"), "name", "")) if self.files else ""
        printable = "".join(character for character in name if character.isprintable())
        return printable[-MAX_FILE_NAME_CHARS:] or "photo"


class GenreForm(PortalForm):
    """One of the genres that the service offers for characters."""

    def __init__(self, genres: Collection[dict[str, Any]], data: Any = None) -> None:
        super().__init__(data)
        self.upstream_ids = {str(genre["id"]): genre["id"] for genre in genres}
        self.fields["genre_id"] = forms.ChoiceField(
            label="Genre",
            choices=[(str(genre["id"]), genre["name"]) for genre in genres],
            error_messages={"required": GENRE_MISSING},
        )

    def draft_settings(self) -> dict[str, Any]:
        return {"genre_id": self.upstream_ids[self.cleaned_data["genre_id"]]}


class PreviewChoiceForm(PortalForm):
    """One of the pictures of all rounds, by the id of its part."""

    picture = forms.UUIDField(label="Picture", error_messages={"required": PREVIEW_MISSING})

    def find_part(self, job: Job) -> JobPart:
        """Raises `Refusal` without a picture of this character."""
        if not self.is_valid():
            raise Refusal(self.first_error())
        part = JobPart.objects.filter(job=job, pk=self.cleaned_data["picture"]).first()
        if part is None or part.list_name != PREVIEWS:
            raise Refusal(PICTURE_GONE)
        return part


class DetailsForm(PortalForm):
    """Who the character is."""

    name = forms.CharField(
        max_length=MAX_NAME_CHARS, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    age = forms.IntegerField(
        min_value=MIN_AGE_YEARS,
        max_value=MAX_AGE_YEARS,
        widget=forms.NumberInput(attrs={"class": "input--short", "inputmode": "numeric"}),
    )
    gender = forms.ChoiceField(choices=GENDERS)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        reject_invisible(self.fields["name"])

    def clean_name(self) -> str:
        return " ".join(str(self.cleaned_data["name"]).split())

    def draft_settings(self) -> dict[str, Any]:
        return dict(self.cleaned_data)
