"""What changed in the images since the last render, what it cost, and the render that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from django.urls import reverse

from dashboard.parts.queries.scene_status import SceneStatus
from dashboard.shared.videos.cost import (
    FREE_AMOUNT,
    ZERO_CREDITS,
    CreditAmount,
    charge_amount,
    spent_credits,
)
from dashboard.shared.videos.parts import NEW_IMAGE, OWN_MEDIA
from proxyapi import pricing
from proxyapi.models import Charge, Job, JobPart, JobState

NOT_RENDERED_TEXT = "The first render shows these images."
UNCHANGED_TEXT = "The video shows these images."
RENDERING_TEXT = "The video is being rendered with these images."
KEPT_TEXT = "The video keeps the old images until you render it again."
UNSETTLED_REASON = "Available when every request for an image is settled."
TIMES = {2: "twice", 3: "three times"}


class ChangeRow(NamedTuple):
    label: str
    note: str
    amount: CreditAmount


@dataclass(frozen=True, slots=True)
class SceneChanges:
    """`render_url` is empty if there is nothing to render again, or not by this reader."""

    heading: str
    text: str
    rows: tuple[ChangeRow, ...]
    total: CreditAmount
    render_url: str
    render_price: CreditAmount | None
    render_disabled_reason: str


def build_scene_changes(
    job: Job,
    scenes: Sequence[JobPart],
    own: Sequence[JobPart],
    statuses: Mapping[UUID, SceneStatus],
    *,
    can_change: bool,
) -> SceneChanges:
    charges = [charge for charge in job.charges.all() if charge.operation in (NEW_IMAGE, OWN_MEDIA)]
    since = job.started_at or job.created_at
    new = [
        charge for charge in charges if charge.applied_at is not None and charge.applied_at > since
    ]
    images = [charge for charge in new if charge.operation == NEW_IMAGE]
    added = [part for part in own if part.created_at > since]
    is_completed = job.state == JobState.COMPLETED
    drawing = [part for part in scenes if statuses[part.pk].is_open]
    rows = [row for row in (new_images_row(images, scenes), added_row(new, added)) if row]
    rows += open_rows(charges, drawing, scenes)
    changed = len({charge.path.get("asset") for charge in images}) + len(added)
    has_changed = is_completed and bool(changed)
    price = pricing.estimate_retry_price(job)
    return SceneChanges(
        heading="Changed since the last render" if has_changed else "Images",
        text=changes_text(job.state, changed, len(scenes) + len(own)),
        rows=tuple(rows),
        total=paid_amount(charges),
        render_url=reverse("new-renders", args=[job.pk]) if has_changed and can_change else "",
        render_price=CreditAmount(price, "about") if price is not None else None,
        render_disabled_reason=UNSETTLED_REASON if any(row.is_open for row in charges) else "",
    )


def changes_text(state: str, changed: int, count: int) -> str:
    if state == JobState.RUNNING:
        return RENDERING_TEXT
    if state != JobState.COMPLETED:
        return NOT_RENDERED_TEXT if count else ""
    return f"{changed} of {count} images. {KEPT_TEXT}" if changed else UNCHANGED_TEXT


def new_images_row(images: Sequence[Charge], scenes: Sequence[JobPart]) -> ChangeRow | None:
    """Name the scenes with a new image, and how often each was replaced."""
    if not images:
        return None
    counts = Counter(str(charge.path.get("asset")) for charge in images)
    numbers = [
        f"{number} ({TIMES.get(times, f'{times} times')})" if times > 1 else str(number)
        for number, part in enumerate(scenes, start=1)
        if (times := counts[part.remote_id])
    ]
    return ChangeRow("New images", scenes_text(numbers), paid_amount(images))


def added_row(new: Sequence[Charge], added: Sequence[JobPart]) -> ChangeRow | None:
    if not added:
        return None
    count = f"{len(added)} added" if len(added) > 1 else ""
    paid = [charge for charge in new if charge.operation == OWN_MEDIA]
    return ChangeRow("Own media", count, paid_amount(paid))


def paid_amount(charges: Sequence[Charge]) -> CreditAmount:
    spent = spent_credits(charges)
    return CreditAmount(spent) if spent else FREE_AMOUNT


def open_rows(
    charges: Sequence[Charge], drawing: Sequence[JobPart], scenes: Sequence[JobPart]
) -> list[ChangeRow]:
    """What is being made, and what may have been."""
    rows = []
    for label, kind in (("Being made", "held"), ("Outcome unknown", "unknown")):
        amounts = [
            (charge, charge_amount(charge))
            for charge in charges
            if charge.is_open and charge.hold and charge_amount(charge).kind == kind
        ]
        if amounts:
            ids = {str(charge.path.get("asset")) for charge, _ in amounts}
            total = sum((amount.value for _, amount in amounts), ZERO_CREDITS)
            numbers = [
                str(number) for number, part in enumerate(scenes, start=1) if part.remote_id in ids
            ]
            rows.append(ChangeRow(label, scenes_text(numbers), CreditAmount(total, kind)))
    return rows


def scenes_text(numbers: Sequence[str]) -> str:
    """Return a note such as `scenes 2, 6 (twice) and 7`."""
    if not numbers:
        return ""
    *first, last = numbers
    listed = f"{', '.join(first)} and {last}" if first else last
    return f"{'scenes' if first else 'scene'} {listed}"
