"""The reference slots of the chosen model, as the composer shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.urls import reverse

from dashboard.shared.clip_models import ReferenceSlot
from dashboard.shared.videos.cards import film_still_url
from proxyapi.kinds import FILE_KEY


@dataclass(frozen=True, slots=True)
class SlotField:
    """A reference slot and what is in it. `preview_url` is a picture, `still_url` a film's."""

    slot: ReferenceSlot
    preview_url: str = ""
    still_url: str = ""
    origin: str = ""
    error: str = ""

    @property
    def is_filled(self) -> bool:
        return bool(self.origin)

    @property
    def frames_url(self) -> str:
        """Return the URL of the dialog that takes it from a finished video."""
        film = "&film=1" if self.slot.takes_film else ""
        return f"{reverse('clip-frames')}?slot={self.slot.name}{film}"

    @property
    def accept(self) -> str:
        return "video/mp4" if self.slot.takes_film else "image/png,image/jpeg,image/webp"

    @property
    def formats(self) -> str:
        return "MP4, up to 20 MB" if self.slot.takes_film else "JPEG, PNG or WebP, up to 20 MB"


def build_slot_field(
    slot: ReferenceSlot, job_id: UUID, chosen: Mapping[str, Any], error: str = ""
) -> SlotField:
    """`job_id` is the draft that the reference is kept with."""
    reference = chosen.get(slot.name)
    if not isinstance(reference, dict):
        return SlotField(slot, error=error)
    if reference.get(FILE_KEY):
        url = reverse("clip-reference", args=[job_id, slot.name])
        return SlotField(slot, preview_url=url, origin="Your file", error=error)
    still = film_still_url(UUID(reference["job"])) if reference.get("job") else ""
    origin = f"From “{reference.get('title')}”"
    return SlotField(slot, still_url=still, origin=origin, error=error)
