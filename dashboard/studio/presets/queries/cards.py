"""A preset as a card of the studio's start page and as a row of the list."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from dashboard.models import Preset, Team
from dashboard.shared.videos.cards import film_still_url
from dashboard.shared.videos.labels import FACELESS_TYPE_LABELS
from dashboard.studio.kept_settings.groups import FORMAT_FIELD, VOICE_FIELD
from dashboard.studio.kept_settings.kept_option import KeptOption, kept_options
from proxyapi.models import Job, JobState

MOST_USED_COUNT = 4


@dataclass(frozen=True, slots=True)
class PresetCard:
    """What every member may see of a preset; using it is a POST to `preset-drafts` with its id.

    `still_url`: a frame of a video made with it, for `data-still`
    (static/js/posters/card_pictures.js), or "".
    """

    id: UUID
    name: str
    type_label: str
    format: str
    voice: str
    still_url: str
    missing_count: int
    used_count: int

    @property
    def line(self) -> str:
        """Return a text such as `AI visuals, 16:9, Amelia Hart`."""
        return ", ".join(filter(None, (self.type_label, self.format, self.voice)))

    @property
    def drift_notice(self) -> str:
        """Return a text such as `1 setting missing`; empty if the service offers everything."""
        plural = "" if self.missing_count == 1 else "s"
        return f"{self.missing_count} setting{plural} missing" if self.missing_count else ""


def load_most_used_presets(team: Team) -> tuple[tuple[PresetCard, ...], int]:
    """Return the four most used presets of the team, for the studio's start page, and the number of
    all its presets.

    Two queries. Each card has the drift notice of the last comparison with the service. The page
    needs `js/posters.js` for the pictures; without presets both values are empty.
    """
    presets = with_pictures(team.presets.all())
    cards = tuple(build_preset_card(preset) for preset in presets[:MOST_USED_COUNT])
    return cards, team.presets.count() if cards else 0


def with_pictures(presets: QuerySet[Preset]) -> QuerySet[Preset]:
    """Annotate `picture_id`: the newest finished video made with the preset, else the one that it
    was saved from."""
    finished = Job.objects.visible().filter(state=JobState.COMPLETED).exclude(media_url="")
    made = finished.filter(draft_origin__preset=OuterRef("pk")).order_by("-finished_at")
    saved_from = finished.filter(pk=OuterRef("picture_of"))
    return presets.annotate(
        picture_id=Coalesce(Subquery(made.values("pk")[:1]), Subquery(saved_from.values("pk")))
    )


def build_preset_card(preset: Preset) -> PresetCard:
    """Return the card of a row of `with_pictures`; no query."""
    options = kept_options(preset.options)
    picture_id: UUID | None = preset.picture_id  # type: ignore[attr-defined]  # see `with_pictures`
    return PresetCard(
        id=preset.pk,
        name=preset.name,
        type_label=FACELESS_TYPE_LABELS.get(preset.type, preset.type),
        format=kept_format(options),
        voice=option_name(options, VOICE_FIELD),
        still_url=film_still_url(picture_id) if picture_id else "",
        missing_count=len(preset.missing),
        used_count=preset.used_count,
    )


def kept_format(options: dict[str, KeptOption]) -> str:
    """Return the format as the service names it, such as `16:9`."""
    return options[FORMAT_FIELD].slug if FORMAT_FIELD in options else ""


def option_name(options: dict[str, KeptOption], field: str) -> str:
    return options[field].name if field in options else ""
