"""The frame of a finished video that the composer takes at once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse

from dashboard.clips.queries.slots import SlotField
from proxyapi.models import Job

NO_SLOT_TEXT = (
    "{model} takes no frames. Choose a model that takes some, then take “{title}” from the library."
)
SLOTS_FILLED_TEXT = (
    "All references of {model} are in use. Remove one, then take “{title}” from the library."
)


@dataclass(frozen=True, slots=True)
class FrameToTake:
    """What the page takes of a finished video at once, and into which slot. `what`: first, last or
    film."""

    slot: str
    what: str
    film_id: UUID
    film_url: str
    title: str

    @property
    def text(self) -> str:
        what = "video" if self.what == "film" else f"{self.what} frame of"
        return f"Taking the {what} “{self.title}”."

    @property
    def failed_text(self) -> str:
        return f"“{self.title}” could not be read. Take a frame from the library, or upload one."


def build_frame_to_take(slots: Iterable[SlotField], film: Job) -> FrameToTake | None:
    """Return what the first empty slot takes: a new clip starts where the film ends, and ends where
    it starts. None if no slot is empty."""
    free = next((field.slot for field in slots if not field.is_filled), None)
    if free is None:
        return None
    frame = "last" if free.name == "first_frame" else "first"
    return FrameToTake(
        slot=free.name,
        what="film" if free.takes_film else frame,
        film_id=film.pk,
        film_url=reverse("video-media", args=[film.pk]),
        title=film.title,
    )


def no_slot_text(slots: Collection[SlotField], model_name: str, film: Job) -> str:
    """Return why no frame of the film is taken, and what to do."""
    if not slots:
        return NO_SLOT_TEXT.format(model=model_name, title=film.title)
    return SLOTS_FILLED_TEXT.format(model=model_name, title=film.title)
