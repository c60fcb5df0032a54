"""A character's card, and what its page shows besides: the picture, the facts, where it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.urls import reverse

from dashboard.characters.queries.rounds import build_rounds
from dashboard.characters.queries.status import CharacterStatus, build_status
from dashboard.models import Membership
from dashboard.shared.access import has_permission
from dashboard.shared.roles import Permission
from dashboard.shared.video_options import option_label
from dashboard.shared.videos.cards import with_card_relations
from dashboard.shared.videos.cost import FREE_AMOUNT, CreditAmount, video_cost
from proxyapi import pricing
from proxyapi.models import (
    Account,
    CharacterGenres,
    Draft,
    Job,
    JobKind,
    JobState,
    StoredFile,
    Tenant,
)
from proxyapi.operations import TRAINING_OPERATION
from proxyapi.polling.duration_history import DurationHistory

GENRE_CHOSEN, PREVIEWED, CHOSEN = "genre chosen", "previews made", "preview chosen"
PHOTO_ONLY = "photo only"


@dataclass(frozen=True, slots=True)
class CardButton:
    """The reader's button: a link, or with a `price` the question of a charge."""

    label: str
    url: str
    icon: str
    price: Decimal | None = None


@dataclass(frozen=True, slots=True)
class CharacterCard:
    """`option_uuid`: what a video refers to it by, empty until the service offers it (pitfall 103).
    `used_in`: videos of the team with it."""

    id: UUID
    name: str
    url: str
    status: CharacterStatus
    subtitle: str
    gender: str
    cost: CreditAmount
    picture_url: str
    option_uuid: str
    used_in: int
    button: CardButton | None
    is_hidden: bool
    created_at: datetime
    member_id: int


def with_character_relations(jobs: QuerySet[Job]) -> QuerySet[Job]:
    """Load all relations that a card or a page reads; three queries for any number."""
    rows = with_card_relations(jobs).select_related("character_photo__confirmed_by")
    photo = StoredFile.objects.filter(job=OuterRef("pk"))
    return rows.annotate(has_photo=Exists(photo)).prefetch_related("parts")


def characters_of(tenant: Tenant) -> QuerySet[Job]:
    return Job.objects.filter(tenant=tenant, kind=JobKind.CHARACTER)


def count_uses(tenant: Tenant) -> Counter[str]:
    """How many rendered videos of the team use each character, by its uuid; one query."""
    drafts = Draft.objects.filter(
        job__tenant=tenant, job__hidden_at=None, settings__has_key="character_id"
    ).exclude(job__state=JobState.DRAFT)
    values = drafts.values_list("settings__character_id", flat=True)
    return Counter(str(value) for value in values if value)


def build_card(
    job: Job,
    durations: DurationHistory,
    now: datetime,
    *,
    uses: Mapping[str, int],
    reader: Membership,
) -> CharacterCard:
    status, uuid = build_status(job, durations, now), find_option_uuid(job)
    chosen = job.chosen_settings
    return CharacterCard(
        id=job.pk,
        name=job.title,
        url=reverse("character", args=[job.pk]) if job.hidden_at is None else "",
        status=status,
        subtitle=person_text(job) or progress_text(job),
        gender=str(chosen.get("gender") or ""),
        cost=character_cost(job),
        picture_url=picture_url(job),
        option_uuid=uuid,
        used_in=uses.get(uuid, 0) if uuid else 0,
        button=card_button(job, status, reader),
        is_hidden=job.hidden_at is not None,
        created_at=job.created_at,
        member_id=job.member_id,
    )


def character_cost(job: Job) -> CreditAmount:
    """What the character cost so far; previews that turned out to be free count as free."""
    cost = video_cost(list(job.charges.all()))
    return cost if cost.value or cost.kind != "exact" else FREE_AMOUNT


def card_button(job: Job, status: CharacterStatus, reader: Membership) -> CardButton | None:
    if not has_permission(reader, Permission.RENDER) or job.hidden_at is not None:
        return None
    if status.state.name == "draft":
        return CardButton("Continue", reverse("character", args=[job.pk]), "pencil-square")
    price = pricing.fixed_price(job.account, TRAINING_OPERATION)
    if status.state.name == "failed" and price is not None:
        url = reverse("character-training", args=[job.pk])
        return CardButton("Train again", url, "arrow-path", price)
    return None


def person_text(job: Job) -> str:
    """Such as `female, 41`; empty until both were filled in."""
    chosen = job.chosen_settings
    gender, age = chosen.get("gender"), chosen.get("age")
    return f"{gender}, {age}" if gender and age else ""


def progress_text(job: Job) -> str:
    chosen = job.chosen_settings
    if chosen.get("preview_id") is not None:
        return CHOSEN
    if job.parts.all():
        return PREVIEWED
    return GENRE_CHOSEN if chosen.get("genre_id") is not None else PHOTO_ONLY


def picture_url(job: Job) -> str:
    """The chosen picture, else the newest one, else the photo while it waits; empty without any."""
    rounds = build_rounds(job, {})
    if rounds.chosen is not None:
        return rounds.chosen[1].url
    newest = (picture for row in rounds.rounds for picture in row.candidates if picture.url)
    first = next(newest, None)
    if first is not None:
        return first.url
    return photo_url(job)


def photo_url(job: Job) -> str:
    """The photo of a job of `with_character_relations`; empty once it is not kept here."""
    return reverse("character-photo", args=[job.pk]) if job.has_photo else ""  # type: ignore[attr-defined]  # annotated


def find_option_uuid(job: Job) -> str:
    """The uuid that the account's options list the character with; the spec does not say which of
    the two ids the record has."""
    if job.state != JobState.COMPLETED or job.remote_id is None:
        return ""
    for item in character_options(job.account):
        if job.remote_id in (str(item.get("id")), str(item.get("uuid"))):
            return str(item.get("uuid") or "")
    return ""


def character_options(account: Account) -> Iterable[Mapping[str, object]]:
    options = account.options
    layers = (options, options.get("mandatory"), options.get("optional"))
    for layer in layers:
        rows = layer.get("characters") if isinstance(layer, dict) else None
        yield from (row for row in rows or () if isinstance(row, dict))


def load_genre_names(account: Account) -> dict[str, str]:
    """The names of the account's character genres by id; one query."""
    row = CharacterGenres.objects.filter(account=account).first()
    return genre_names(row)


def genre_names(row: CharacterGenres | None) -> dict[str, str]:
    return {str(genre["id"]): option_label(genre) for genre in (row.genres if row else ())}
