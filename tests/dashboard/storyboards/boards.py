"""Storyboards in the states that clips, prices and renders depend on."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.utils import timezone

from dashboard.models import Membership
from dashboard.storyboards.actions import place_in_copy
from proxyapi.models import Charge, ChargeState, Job, JobPart, Storyboard, StoryboardScene
from proxyapi.models.job_part import SCENE_CLIPS
from tests.factories import ChargeFactory
from tests.storyboards import mark_as_sent

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
CLIPS = "text_to_scene.clips"


def reload(storyboard: Storyboard) -> Storyboard:
    related = ("account", "token", "copy__draft", "copy__account")
    return Storyboard.objects.select_related(*related).get(pk=storyboard.pk)


def send(by: Membership, storyboard: Storyboard) -> Job:
    """Have the service have everything that the storyboard is now."""
    job = place_in_copy(by=by, storyboard=storyboard)
    mark_as_sent(job)
    return job


def give_clips(
    job: Job, *scenes: StoryboardScene, status: str = "completed", **fields: Any
) -> None:
    """Clips of these scenes of a copy, as last read a minute ago."""
    ids = {one["scene"]: one["remote_id"] for one in job.draft.sent_settings["scenes"]}
    at = timezone.now() - timedelta(minutes=1)
    for scene in scenes:
        url = f"https://media.example/{scene.pk}.mp4" if status == "completed" else ""
        values = {"status": status, "media_url": url, "finished_at": at, "read_at": at, **fields}
        JobPart.objects.create(
            job=job,
            list_name=SCENE_CLIPS,
            remote_id=str(ids[str(scene.pk)]),
            position=scene.position,
            **values,
        )


def give_price(job: Job, credits: int) -> None:
    """An estimate of the render that is current."""
    job.draft.estimate, job.draft.estimate_as_of = Decimal(credits), timezone.now()
    job.draft.save()


def order(
    job: Job,
    member: Membership,
    scenes: list[StoryboardScene],
    state: ChargeState = ChargeState.CONFIRMED,
    **fields: Any,
) -> Charge:
    """A charge for clips of these scenes."""
    now = timezone.now()
    values: dict[str, Any] = {"quote": Decimal(20), "hold": Decimal(20), "sent_at": now, **fields}
    if state == ChargeState.CONFIRMED:
        values = {"cost": Decimal(20), "settled_at": now, "applied_at": now, **values}
    return ChargeFactory.create(
        job=job,
        account=job.account,
        token=job.token,
        member=member.user,
        tenant=job.tenant,
        operation=CLIPS,
        body={"scenes": sorted(str(scene.pk) for scene in scenes)},
        nonce=uuid4(),
        state=state,
        **values,
    )
