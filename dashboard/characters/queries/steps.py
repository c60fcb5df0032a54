"""The steps of a new character: photo, genre, preview, details; and the card with the price."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from django.urls import reverse

from dashboard.characters.queries.cards import photo_url
from dashboard.characters.queries.preview_pool import PreviewPool, load_preview_pool
from dashboard.characters.queries.rounds import PreviewRounds, build_rounds
from dashboard.models import CharacterPhoto, Membership
from dashboard.shared.member_token import has_member_token
from dashboard.shared.team_balance import credit_shortfall_text
from proxyapi import pricing
from proxyapi.kinds import KINDS
from proxyapi.models import Account, Job, JobKind
from proxyapi.operations import PREVIEW_OPERATION, TRAINING_OPERATION

GOOD_SIDE_PX = 512  # of the shorter side; below it a likeness suffers
SHAPE_TOLERANCE = 1.02  # of a square
UNMET_TEXT = "Available when every item above is done."
TRAIN_TEXT = "You confirm the price before anything is charged."
ENTER_DETAILS = "Enter name, age and gender"


class CharacterStepSlug(StrEnum):
    PHOTO = "photo"
    GENRE = "genre"
    PREVIEW = "preview"
    DETAILS = "details"


STEP_NAMES = {
    CharacterStepSlug.PHOTO: "Photo",
    CharacterStepSlug.GENRE: "Genre",
    CharacterStepSlug.PREVIEW: "Preview",
    CharacterStepSlug.DETAILS: "Details",
}


@dataclass(frozen=True, slots=True)
class CharacterStep:
    """`url` is empty for a step that cannot be opened yet."""

    slug: CharacterStepSlug
    number: int
    name: str
    note: str
    url: str
    is_done: bool
    is_current: bool


@dataclass(frozen=True, slots=True)
class Advice:
    state: str
    text: str


@dataclass(frozen=True, slots=True)
class TrainingNeed:
    """`state` is a glyph: good if it is met, draft if something is to be done."""

    label: str
    state: str
    url: str = ""
    action_label: str = ""


@dataclass(frozen=True, slots=True)
class PriceCard:
    """`price` is None if the service lists none; `preview_price` is 0 if a preview is free."""

    price: Decimal | None
    preview_price: Decimal
    needs: tuple[TrainingNeed, ...]
    train_url: str
    is_details_step: bool

    @property
    def can_press(self) -> bool:
        """True if the button works: on the details step it saves the form first."""
        return self.price is not None and all(
            need.state == "good" or (self.is_details_step and need.label == ENTER_DETAILS)
            for need in self.needs
        )

    @property
    def note(self) -> str:
        return TRAIN_TEXT if self.can_press else UNMET_TEXT

    @property
    def scope(self) -> str:
        free = "Photo and previews are free." if not self.preview_price else "The photo is free."
        return f"For the training. {free}"


@dataclass(frozen=True, slots=True)
class StepsPage:
    """`job` is None before the first photo was stored."""

    job: Job | None
    title: str
    steps: tuple[CharacterStep, ...]
    price: PriceCard
    rounds: PreviewRounds
    pool: PreviewPool | None
    photo: CharacterPhoto | None
    photo_url: str
    genre: str
    genre_names: Mapping[str, str]
    has_token: bool

    @property
    def current(self) -> CharacterStep:
        return next(step for step in self.steps if step.is_current)

    @property
    def previous_step(self) -> CharacterStep | None:
        return self.steps[self.current.number - 2] if self.current.number > 1 else None

    @property
    def next_step(self) -> CharacterStep | None:
        return self.steps[self.current.number] if self.current.number < len(self.steps) else None

    @property
    def bar_width(self) -> str:
        return f"{100 * self.current.number / len(self.steps):.0f}%"

    @property
    def is_waiting(self) -> bool:
        """True while pictures or genres are awaited, so that the page fetches itself again."""
        awaits_genres = self.current.slug == CharacterStepSlug.GENRE and not self.genre_names
        awaits_pictures = (
            self.current.slug == CharacterStepSlug.PREVIEW and self.rounds.pending is not None
        )
        return awaits_genres or awaits_pictures

    @property
    def may_preview(self) -> bool:
        is_empty = self.pool is not None and self.pool.is_empty
        return bool(self.genre) and not self.rounds.pending and not is_empty

    @property
    def previews_at_once(self) -> bool:
        """True if the genre step also requests a preview: it is free and can be sent now."""
        is_empty = self.pool is not None and self.pool.is_empty
        return not self.price.preview_price and not self.rounds.pending and not is_empty

    @property
    def preview_label(self) -> str:
        return "Preview again" if self.rounds.rounds or self.rounds.failure else "Preview"

    @property
    def has_next_form(self) -> bool:
        """True if Next sends the form of the step."""
        match self.current.slug:
            case CharacterStepSlug.PHOTO:
                return self.photo is None
            case CharacterStepSlug.GENRE:
                return bool(self.genre_names)
            case CharacterStepSlug.PREVIEW:
                return bool(self.rounds.rounds)
        return False

    @property
    def chosen_url(self) -> str:
        return self.rounds.chosen[1].url if self.rounds.chosen else ""

    @property
    def may_replace_photo(self) -> bool:
        return self.job is None or (self.job.remote_id is None and not self.rounds.pending)

    @property
    def advice(self) -> tuple[Advice, ...]:
        return photo_advice(self.photo) if self.photo else ()


def load_new_page(reader: Membership, account: Account | None) -> StepsPage:
    """The first step, before a photo was chosen."""
    return build_page(None, reader, CharacterStepSlug.PHOTO, account, {})


def load_steps_page(
    job: Job, reader: Membership, slug: CharacterStepSlug, genre_names: Mapping[str, str]
) -> StepsPage:
    """At most six queries and one read from Redis."""
    return build_page(job, reader, slug, job.account, genre_names)


def build_page(
    job: Job | None,
    reader: Membership,
    slug: CharacterStepSlug,
    account: Account | None,
    genre_names: Mapping[str, str],
) -> StepsPage:
    rounds = build_rounds(job, genre_names) if job else PreviewRounds((), None, "")
    photo: CharacterPhoto | None = getattr(job, "character_photo", None) if job else None
    genre = chosen_genre(job, genre_names)
    steps = build_steps(job, slug, photo, genre, rounds)
    shows_pool = job is not None and slug in (CharacterStepSlug.GENRE, CharacterStepSlug.PREVIEW)
    return StepsPage(
        job=job,
        title=job.title if job and job.chosen_settings.get("name") else "New character",
        steps=steps,
        price=build_price_card(job, account, slug, steps),
        rounds=rounds,
        pool=load_preview_pool(job.account) if job and shows_pool else None,
        photo=photo,
        photo_url=photo_url(job) if job else "",
        genre=genre,
        genre_names=genre_names,
        has_token=job is not None or has_member_token(reader),
    )


def chosen_genre(job: Job | None, genre_names: Mapping[str, str]) -> str:
    id = job.chosen_settings.get("genre_id") if job else None
    return "" if id is None else genre_names.get(str(id), f"Genre {id}")


def build_steps(
    job: Job | None,
    current: CharacterStepSlug,
    photo: CharacterPhoto | None,
    genre: str,
    rounds: PreviewRounds,
) -> tuple[CharacterStep, ...]:
    chosen: Mapping[str, Any] = job.chosen_settings if job else {}
    missing = KINDS[JobKind.CHARACTER].preconditions(dict(chosen))
    has_details = job is not None and set(missing) <= {"preview_id"}
    notes = {
        CharacterStepSlug.PHOTO: (photo.name if photo else "", job is not None),
        CharacterStepSlug.GENRE: (genre, bool(genre)),
        CharacterStepSlug.PREVIEW: (rounds.chosen_note, chosen.get("preview_id") is not None),
        CharacterStepSlug.DETAILS: (str(chosen.get("name") or ""), has_details),
    }
    return tuple(
        CharacterStep(
            slug=slug,
            number=number,
            name=name,
            note=notes[slug][0],
            url=reverse("character-step", args=[job.pk, slug]) if job else "",
            is_done=notes[slug][1],
            is_current=slug == current,
        )
        for number, (slug, name) in enumerate(STEP_NAMES.items(), start=1)
    )


def first_open_step(job: Job) -> CharacterStepSlug:
    """The first step that is not done; the last one if all are."""
    chosen = job.chosen_settings
    if chosen.get("genre_id") is None:
        return CharacterStepSlug.GENRE
    return (
        CharacterStepSlug.PREVIEW if chosen.get("preview_id") is None else CharacterStepSlug.DETAILS
    )


def build_price_card(
    job: Job | None,
    account: Account | None,
    slug: CharacterStepSlug,
    steps: tuple[CharacterStep, ...],
) -> PriceCard:
    price = pricing.fixed_price(account, TRAINING_OPERATION) if account else None
    preview = pricing.listed_price_or_free(account, PREVIEW_OPERATION) if account else Decimal(0)
    labels = {  # if it is met; if not; of its link
        CharacterStepSlug.PHOTO: ("Photo is chosen", "Choose a photo", ""),
        CharacterStepSlug.GENRE: ("Genre is chosen", "Choose a genre", "Choose"),
        CharacterStepSlug.PREVIEW: ("Preview is chosen", "Choose a preview", "Choose"),
        CharacterStepSlug.DETAILS: ("Name, age and gender are set", ENTER_DETAILS, "Fill in"),
    }
    needs = []
    for step in steps:
        met, task, action_label = labels[step.slug]
        url = "" if step.is_current else step.url
        needs.append(
            TrainingNeed(met, "good")
            if step.is_done
            else TrainingNeed(task, "draft", url, action_label)
        )
    if job is not None and price is not None:
        shortfall = credit_shortfall_text(job.account.check_credits(price))
        needs += [TrainingNeed(shortfall, "late")] if shortfall else []
    return PriceCard(
        price,
        preview,
        tuple(needs),
        reverse("character-training", args=[job.pk]) if job else "",
        slug == CharacterStepSlug.DETAILS,
    )


def photo_advice(photo: CharacterPhoto) -> tuple[Advice, ...]:
    side = min(photo.width, photo.height)
    is_large = side >= GOOD_SIDE_PX
    size = (
        Advice("good", f"Large enough: the shorter side has {side:,} pixels.")
        if is_large
        else Advice(
            "late", f"Small: the shorter side has {side:,} pixels; {GOOD_SIDE_PX} are better."
        )
    )
    is_upright = photo.width <= photo.height * SHAPE_TOLERANCE
    shape = (
        Advice("good", "Portrait format, nothing will be cut off.")
        if is_upright
        else Advice("late", "Landscape format: its sides may be cut off.")
    )
    return (
        size,
        shape,
        Advice("info", "One face, from the front, evenly lit. Only you can check this."),
    )
