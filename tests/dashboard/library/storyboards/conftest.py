"""Priya's storyboard of four scenes, and copies of it at the service with clips and a film."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from proxyapi.models import (
    Account,
    Charge,
    Job,
    JobKind,
    JobPart,
    Storyboard,
    StoryboardCopy,
    StoryboardScene,
    Token,
)

CLIPS, WRITING, RENDER = "text_to_scene.clips", "text_to_scene.prompt", "text_to_scene.render"
MARLOW = {
    "slug": "marlow-02",
    "name": "Marlow 02",
    "modifiers": {
        "duration": {"values": [4, 6, 10], "default": 6},
        "aspect_ratio": {"values": ["16:9"], "default": "16:9"},
        "resolution": {"values": ["512P"], "default": "512P"},
        "first_frame": {"type": "image"},
    },
    "pricing": [{"resolution": "512P", "credits_per_second": 1.6}],
}
SCENES = (
    ("Wide, locked: the night train crosses a still fjord.", 10, False),
    ("Close on lit windows gliding past.", 6, True),
    ("The nose of the engine, its lamp over black water.", 6, False),
    ("Aurora opens above the ridge.", 10, False),
)

MakeFilm = Callable[..., Job]


@pytest.fixture
def account(account: Account) -> Account:
    account.clip_models = [MARLOW]
    account.options = {
        "optional": {"clip_engines": [{"id": 31, "slug": "marlow-02", "name": "Marlow 02"}]}
    }
    account.save()
    return account


@pytest.fixture
def storyboard(account: Account, token: Token) -> Storyboard:
    board = Storyboard.objects.create(
        tenant=account.tenant,
        account=account,
        token=token,
        member=token.owner,
        title="Night train north",
        engine="marlow-02",
        aspect_ratio="16:9",
        resolution="512P",
    )
    StoryboardScene.objects.bulk_create(
        StoryboardScene(
            storyboard=board, position=place, prompt=prompt, duration=seconds, is_chained=chained
        )
        for place, (prompt, seconds, chained) in enumerate(SCENES, start=1)
    )
    return board


@pytest.fixture
def make_film(storyboard: Storyboard, make_video_job: Callable[..., Job]) -> MakeFilm:
    """Makes a copy in a state, with the clips of all its scenes; a draft is no film yet."""

    def make(state: str = "completed", board: Storyboard = storyboard, **fields: Any) -> Job:
        scenes: list[dict[str, Any]] = [
            {
                "scene": str(scene.pk),
                "prompt": scene.prompt,
                "duration": scene.duration,
                "is_chained": scene.is_chained,
                "first_frame": {},
                "last_frame": {},
                "remote_id": str(place),
            }
            for place, scene in enumerate(board.scenes.all(), start=1)
        ]
        content = {
            "mode": "manual",
            "title": board.title,
            "clip_engine_id": 31,
            "aspect_ratio": "16:9",
            "resolution": "512P",
            "audio": "",
            "scenes": scenes,
        }
        fields = {"title": board.title, **fields}
        job = make_video_job(state, kind=JobKind.STORYBOARD, draft__settings=content, **fields)
        type(job.draft).objects.filter(job=job).update(settings=content, sent_settings=content)
        StoryboardCopy.objects.create(job=job, storyboard=board)
        JobPart.objects.bulk_create(
            JobPart(
                job=job,
                list_name="scenes",
                remote_id=scene["remote_id"],
                position=place,
                status="completed",
                media_url=f"http://127.0.0.1:8001/media/clip-{place}.mp4",
                read_at=timezone.now(),
            )
            for place, scene in enumerate(scenes, start=1)
        )
        return Job.objects.get(pk=job.pk)

    return make


@pytest.fixture
def charge_clips(add_settled_charge: Callable[..., Charge]) -> Callable[..., Charge]:
    """A settled charge for the clips of some scenes of a copy, by their numbers."""

    def charge(job: Job, numbers: tuple[int, ...], cost: float, **fields: Any) -> Charge:
        scenes = [scene["scene"] for scene in job.draft.sent_settings["scenes"]]
        body = {"scenes": [scenes[number - 1] for number in numbers]}
        fields.setdefault("nonce", uuid.uuid4())
        made = add_settled_charge(job, 0, CLIPS, body=body, **fields)
        Charge.objects.filter(pk=made.pk).update(cost=Decimal(str(cost)))
        return made

    return charge
