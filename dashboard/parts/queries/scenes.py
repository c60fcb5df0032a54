"""The scenes of a video: each image with its words, its cost and the button for another one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from dashboard.parts.queries.part_durations import build_part_bar, usual_request_duration
from dashboard.parts.queries.scene_changes import build_scene_changes
from dashboard.parts.queries.scene_status import SceneStatus, build_scene_status
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from dashboard.shared.videos.cards import with_card_relations
from dashboard.shared.videos.cost import CreditAmount
from dashboard.shared.videos.labels import job_type_label
from dashboard.shared.videos.parts import (
    NEW_IMAGE,
    OWN_MEDIA,
    build_video_tabs,
    listed_price,
)
from proxyapi.models import Charge, Job, JobPart, JobState, TokenState
from proxyapi.models.duration_class import WORDS_PER_SECOND, count_words
from proxyapi.models.job_part import ASSETS, PartSource
from proxyapi.polling.duration_history import UsualDuration
from proxyapi.refusals import Refusal

RENDERING_REASON = "The video is rendering. Available when it is done."
OPEN_REASON = "One at a time for each scene."
UNKNOWN_REASON = "Available when the charge is settled."
NO_PRICE_REASON = "The service’s price list has no price for it."
TOKEN_REASON = "The token it was made with does not work now."  # noqa: S105 - a sentence
ROLE_TEXT = "Owners, admins and producers can change the images."
MAX_RECEIVED_UPLOADS = 5
FREE_USES_TEXT = (
    "The first {count} on this account are free at the service. Reelroom cannot see how many are "
    "left, so {price} cr are held and the ledger decides."
)


@dataclass(frozen=True, slots=True)
class PricedButton:
    """A button that charges at the press. `refusal`: what the last press was answered with."""

    url: str
    price: CreditAmount | None
    disabled_reason: str = ""
    refusal: Refusal | None = None
    idempotency_key: UUID = field(default_factory=uuid4)


@dataclass(frozen=True, slots=True)
class PressedButton:
    """The scene or export whose button was pressed, and what the press was answered with."""

    part_id: UUID
    refusal: Refusal


def load_scenes_page(
    job: Job, reader: Membership, pressed: PressedButton | None = None
) -> dict[str, Any]:
    """Five queries."""
    rows = with_card_relations(Job.objects.filter(pk=job.pk)).prefetch_related("parts")
    job = rows.defer(None).defer("token__ciphertext").get()
    parts = [part for part in job.parts.all() if part.list_name == ASSETS]
    now, charges = timezone.now(), list(job.charges.all())
    scenes = [part for part in parts if part.source != PartSource.UPLOADED]
    own = [part for part in parts if part.source == PartSource.UPLOADED]
    by_asset = charges_by_asset(charges)
    statuses = {part.pk: build_scene_status(part, by_asset[part.remote_id], now) for part in parts}
    can_change = has_permission(reader, Permission.RENDER)
    price, free_uses = listed_price(job, NEW_IMAGE)
    reason = blocked_reason(job)
    usual = usual_request_duration(job, NEW_IMAGE)
    cards = []
    for part, (number, title, length) in zip(
        [*scenes, *own], [*scene_titles(scenes), *own_titles(own)], strict=True
    ):
        status, button = statuses[part.pk], None
        if can_change and part.source in ("", PartSource.GENERATED):
            button = new_image_button(part, price, status, reason, pressed)
        cards.append(build_scene_card(part, number, title, length, status, usual, now, button))
    own_charges = [charge for charge in charges if charge.operation == OWN_MEDIA]
    free_text = ""
    if free_uses and price is not None and can_change:
        free_text = FREE_USES_TEXT.format(count=free_uses, price=credits(price))
    return {
        "id": job.pk,
        "url": reverse("scenes", args=[job.pk]),
        "video_url": reverse("video", args=[job.pk]),
        "title": job.title,
        "type": job_type_label(job),
        "tabs": build_video_tabs(job, "scenes"),
        "scenes": tuple(cards),
        "changes": build_scene_changes(job, scenes, own, statuses, can_change=can_change),
        "own_media_url": reverse("own-media", args=[job.pk]),
        "own_media_reason": reason,
        "own_media_status": own_media_status(own_charges, own, now),
        "received_upload_keys": " ".join(
            str(charge.nonce) for charge in own_charges[-MAX_RECEIVED_UPLOADS:]
        ),
        "can_change": can_change,
        "role_text": "" if can_change else ROLE_TEXT,
        "free_uses_text": free_text,
        "announcement": scenes_announcement(cards),
    }


def new_image_button(
    part: JobPart,
    price: Decimal | None,
    status: SceneStatus,
    reason: str,
    pressed: PressedButton | None,
) -> PricedButton:
    """`reason` says why no image of the video can be changed now."""
    here = pressed if pressed and pressed.part_id == part.pk else None
    return PricedButton(
        url=reverse("new-images", args=[part.job_id, part.pk]),
        price=CreditAmount(price) if price is not None else None,
        disabled_reason=button_reason(status, reason, has_price=price is not None),
        refusal=here.refusal if here else None,
    )


def scenes_announcement(cards: Sequence[dict[str, Any]]) -> str:
    """Return what a screen reader says after a change: the scenes in progress, else the last
    failure."""
    statuses = [(card["title"], card["status"]) for card in cards]
    busy = [title for title, status in statuses if status.is_open and status.name == "running"]
    failed = [f"{title}: {status.quote}" for title, status in statuses if status.quote]
    if busy:
        return f"A new image is being made: {', '.join(busy)}."
    return failed[-1] if failed else "No image is being made."


def charges_by_asset(charges: Iterable[Charge]) -> Mapping[str, list[Charge]]:
    """The charges of new images by the id of their scene, oldest first."""
    found: defaultdict[str, list[Charge]] = defaultdict(list)
    for charge in charges:
        if charge.operation == NEW_IMAGE:
            found[str(charge.path.get("asset"))].append(charge)
    return found


def blocked_reason(job: Job) -> str:
    """Why no image of the video can be changed now; empty if one can."""
    if job.account.pause_reason:
        return job.account.pause_reason
    if job.token.state != TokenState.WORKING:
        return TOKEN_REASON
    return RENDERING_REASON if job.state == JobState.RUNNING else ""


def button_reason(status: SceneStatus, reason: str, *, has_price: bool) -> str:
    if reason:
        return reason
    if status.name == "unknown":
        return UNKNOWN_REASON
    if status.is_open:
        return OPEN_REASON
    return "" if has_price else NO_PRICE_REASON


def scene_titles(scenes: Sequence[JobPart]) -> list[tuple[int | None, str, str]]:
    """Number, title with the start, and length of each scene.

    Starts are known only if the record names every length. Guessed by the words, they would run
    past the end of a film whose voice speaks faster: a length is then about that of the words.
    """
    titles, start = list[tuple[int | None, str, str]](), 0.0
    lengths = [named_seconds(part) for part in scenes]
    for number, (part, named) in enumerate(zip(scenes, lengths, strict=True), start=1):
        minutes, rest = divmod(round(start), 60)
        timing = f", {minutes}:{rest:02}" if all(lengths) else ""
        spoken = count_words(part.text) / WORDS_PER_SECOND
        guessed = f"≈ {max(1, round(spoken))} s" if spoken else ""
        length = f"{max(1, round(named))} s" if named else guessed
        titles.append((number, f"Scene {number}{timing}", length))
        start += named
    return titles


def named_seconds(part: JobPart) -> float:
    """The length that the record names; 0 if it names none."""
    named = part.details.get("duration")
    is_number = isinstance(named, int | float) and not isinstance(named, bool)
    return float(named) if is_number and 0 < named < 3600 else 0.0


def own_titles(own: Sequence[JobPart]) -> list[tuple[int | None, str, str]]:
    return [(None, "Own media", "") for _ in own]


def build_scene_card(
    part: JobPart,
    number: int | None,
    title: str,
    length: str,
    status: SceneStatus,
    usual: UsualDuration,
    now: datetime,
    button: PricedButton | None,
) -> dict[str, Any]:
    """`number` and `timing` are empty for own media that the service has not placed yet."""
    is_own = part.source == PartSource.UPLOADED
    image_url = ""
    if part.media_url and status.name != "unknown":
        version = f"{part.media_version}-{status.changed_count}"
        image_url = f"{reverse('part-media', args=[part.job_id, part.pk])}?v={version}"
    bar = build_part_bar(status.since, now, usual) if status.since else None
    return {
        "id": part.pk,
        "number": number,
        "title": title,
        "length": length,
        "text": part.text
        or ("The service places it when the video is rendered." if is_own else ""),
        "image_url": image_url,
        "is_film": part.details.get("type") == "video",
        "is_own": is_own,
        "status": status,
        "bar": bar,
        "button": button,
    }


def own_media_status(
    charges: Sequence[Charge], own: Sequence[JobPart], now: datetime
) -> SceneStatus | None:
    """The state of the last upload, until its media is shown."""
    if not charges or any(part.charge_id == charges[-1].pk for part in own):
        return None
    placeholder = JobPart(media_url="x")
    status = build_scene_status(placeholder, charges[-1:], now)
    return status if status.name != "completed" else None
