"""The rounds of previews of a character: pictures to choose from, and the round in the making."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils import timezone

from dashboard.shared.formatting import duration
from proxyapi.models import Charge, ChargeState, Job, JobPart
from proxyapi.models.charge import NEVER_CHARGED_CODE
from proxyapi.models.job_part import PREVIEWS
from proxyapi.operations import PREVIEW_OPERATION

USUAL_PREVIEW_S = 90.0  # "up to about 90 seconds" (spec, Limits)
SENDING_TEXT = "The service draws the pictures. This may take up to 90 s; you can leave this page."
HELD_TEXT = "Waits for a free request."
APPROVAL_TEXT = "It exceeds the budget and waits for an approval. Nothing was sent."
UNKNOWN_TEXT = (
    "No answer came. Whether the pictures were made is read from the service; it is not sent again."
)
TIMED_OUT_TEXT = "No pictures after {seconds}. Nothing was charged. Preview again when you like."


@dataclass(frozen=True, slots=True)
class Candidate:
    """A picture to choose; `url` is empty while the service has no file for it."""

    id: UUID
    number: int
    url: str
    is_chosen: bool
    label: str


@dataclass(frozen=True, slots=True)
class PreviewRound:
    """The pictures of one preview. `number` counts from 1, in the order of sending."""

    number: int
    genre: str
    made_at: datetime | None
    took_s: float | None
    candidates: tuple[Candidate, ...]

    @property
    def name(self) -> str:
        return f"{self.genre}, round {self.number}" if self.number else "Earlier pictures"


@dataclass(frozen=True, slots=True)
class PendingRound:
    """The preview that is in progress; seconds since it was sent, None if it was not."""

    number: int
    genre: str
    state: str
    text: str
    elapsed_s: float | None
    fill: float  # percent of the bar


@dataclass(frozen=True, slots=True)
class PreviewRounds:
    """Newest first. `failure`: what became of the last preview, if it brought no pictures."""

    rounds: tuple[PreviewRound, ...]
    pending: PendingRound | None
    failure: str

    @property
    def picture_count(self) -> int:
        return sum(len(row.candidates) for row in self.rounds)

    @property
    def count_note(self) -> str:
        """Such as `2 rounds, 6 pictures`."""
        rounds, pictures = len(self.rounds), self.picture_count
        return (
            f"{rounds} round{'' if rounds == 1 else 's'}, "
            f"{pictures} picture{'' if pictures == 1 else 's'}"
        )

    @property
    def chosen(self) -> tuple[PreviewRound, Candidate] | None:
        pairs = ((row, picture) for row in self.rounds for picture in row.candidates)
        return next((pair for pair in pairs if pair[1].is_chosen), None)

    @property
    def chosen_note(self) -> str:
        """Such as `Picture 1, round 2`."""
        if self.chosen is None:
            return ""
        row, picture = self.chosen
        return f"Picture {picture.number}" + (f", round {row.number}" if row.number else "")


def build_rounds(job: Job, genre_names: Mapping[str, str]) -> PreviewRounds:
    """Uses `job.charges.all()` and `job.parts.all()`, which pages have prefetched."""
    charges = sorted(
        (charge for charge in job.charges.all() if charge.operation == PREVIEW_OPERATION),
        key=lambda charge: charge.created_at,
    )
    parts = [part for part in job.parts.all() if part.list_name == PREVIEWS]
    done = [charge for charge in charges if any(part.charge_id == charge.pk for part in parts)]
    numbers = {charge.pk: number for number, charge in enumerate(done, start=1)}
    rounds = [build_round(job, charge, parts, numbers[charge.pk], genre_names) for charge in done]
    unlinked = [part for part in parts if part.charge_id not in numbers]
    if unlinked:
        rounds.insert(0, PreviewRound(0, "", None, None, build_candidates(job, unlinked, 0)))
    last = charges[-1] if charges else None
    is_pending = last is not None and last.is_open and last.applied_at is None
    return PreviewRounds(
        rounds=tuple(reversed(rounds)),
        pending=build_pending(last, len(done) + 1, genre_names) if last and is_pending else None,
        failure=preview_failure(last) if last and not is_pending else "",
    )


def build_round(
    job: Job, charge: Charge, parts: list[JobPart], number: int, genre_names: Mapping[str, str]
) -> PreviewRound:
    own = [part for part in parts if part.charge_id == charge.pk]
    applied_at, sent_at, lost_at = charge.applied_at, charge.sent_at, charge.lost_at
    # An answer without its cost is marked as lost after its pictures were stored.
    is_answered = applied_at and sent_at and not (lost_at and applied_at > lost_at)
    took = (applied_at - sent_at).total_seconds() if is_answered else None  # type: ignore[operator]
    return PreviewRound(
        number,
        round_genre(charge, genre_names),
        charge.applied_at or charge.sent_at,
        took,
        build_candidates(job, own, number),
    )


def build_candidates(job: Job, parts: list[JobPart], round_number: int) -> tuple[Candidate, ...]:
    chosen = job.chosen_settings.get("preview_id")
    ordered = sorted(parts, key=lambda part: (part.position, part.remote_id))
    of_round = f" of round {round_number}" if round_number else ""
    return tuple(
        Candidate(
            part.pk,
            number,
            reverse("part-media", args=[job.pk, part.pk]) if part.media_url else "",
            chosen is not None and part.upstream_id == chosen,
            f"Picture {number}{of_round}",
        )
        for number, part in enumerate(ordered, start=1)
    )


def round_genre(charge: Charge, genre_names: Mapping[str, str]) -> str:
    id = str(charge.body.get("genre_id"))
    return genre_names.get(id, f"Genre {id}")


def build_pending(charge: Charge, number: int, genre_names: Mapping[str, str]) -> PendingRound:
    elapsed = (timezone.now() - charge.sent_at).total_seconds() if charge.sent_at else None
    state, text = {
        ChargeState.SENDING: ("running", SENDING_TEXT),
        ChargeState.UNKNOWN: ("unknown", UNKNOWN_TEXT),
        ChargeState.DRAFT: ("waiting", APPROVAL_TEXT),
    }.get(ChargeState(charge.state), ("waiting", charge.reason or HELD_TEXT))
    fill = 100 * min(1.0, (elapsed or 0.0) / USUAL_PREVIEW_S)
    return PendingRound(number, round_genre(charge, genre_names), state, text, elapsed, fill)


def preview_failure(charge: Charge) -> str:
    """Why the last preview brought no pictures; empty if it did."""
    if charge.state != ChargeState.REFUSED:
        return ""
    if charge.code == NEVER_CHARGED_CODE and charge.sent_at and charge.lost_at:
        return TIMED_OUT_TEXT.format(seconds=duration(charge.lost_at - charge.sent_at))
    return charge.reason
