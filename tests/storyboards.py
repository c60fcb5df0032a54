"""Storyboards for tests: an account with two clip engines, and a storyboard of Priya's on it."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from dashboard.models import Membership
from proxyapi.kinds import copy_content
from proxyapi.models import (
    Account,
    Draft,
    Job,
    JobKind,
    Storyboard,
    StoryboardCopy,
    StoryboardScene,
    Token,
)
from tests.factories import AccountFactory, TokenFactory

BROOK_ID, KESTREL_ID = 812, 815  # of the sandbox; Kestrel takes both frames
FRAME = {"type": "image", "required": False}
MODELS: list[dict[str, Any]] = [
    {
        "slug": "brook",
        "name": "Brook",
        "modifiers": {
            "duration": {"min": 1, "max": 15, "default": 5},
            "resolution": {"options": ["480p", "720p"], "default": "720p"},
            "aspect_ratio": {"options": ["16:9", "9:16"], "default": "16:9"},
            "first_frame": FRAME,
            "last_frame": FRAME,
        },
        "cost": [{"credits_per_second": "1.9"}],
    },
    {
        "slug": "marlow-02",
        "name": "Marlow 02",
        "modifiers": {
            "duration": {"options": [6, 10], "default": 6},
            "resolution": {"options": ["768P"], "default": "768P"},
            "aspect_ratio": {"options": ["16:9"], "default": "16:9"},
        },
        "cost": [{"credits_per_second": "2.55"}],
    },
]
OPTIONS = {
    "clip_engines": [
        {"id": 7, "slug": "brook", "name": "Brook"},
        {"id": 9, "slug": "marlow-02", "name": "Marlow 02"},
    ]
}


def create_storyboard_token(by: Membership) -> Token:
    account = AccountFactory.create(tenant=by.team.tenant, clip_models=MODELS, options=OPTIONS)
    return TokenFactory.create(account=account, owner=by.user)


def create_storyboard(by: Membership, token: Token, *prompts: str, **fields: Any) -> Storyboard:
    """A storyboard with a scene of 5 s for each prompt."""
    chosen = {"engine": "brook", "aspect_ratio": "16:9", "resolution": "720p", "title": "Harbour"}
    storyboard = Storyboard.objects.create(
        tenant=token.tenant, account=token.account, token=token, member=by.user, **chosen | fields
    )
    for prompt in prompts:
        add_scene(storyboard, prompt)
    return storyboard


def add_scene(storyboard: Storyboard, prompt: str, **fields: Any) -> StoryboardScene:
    position = storyboard.scenes.count() + 1
    return StoryboardScene.objects.create(
        storyboard=storyboard, prompt=prompt, position=position, **{"duration": 5} | fields
    )


def mark_as_sent(job: Job) -> None:
    """As if the service had everything that the copy contains, with ids from 501."""
    draft = job.draft
    scenes = [
        {**scene, "remote_id": number}
        for number, scene in enumerate(draft.settings["scenes"], start=501)
    ]
    draft.sent_settings = {**draft.settings, "scenes": scenes}
    draft.save()
    job.remote_id = str(job.pk)[:8]
    job.save()


def models_without(slug: str) -> list[dict[str, Any]]:
    return [model for model in MODELS if model["slug"] != slug]


def reload_account(account: Account, **fields: Any) -> None:
    Account.objects.filter(pk=account.pk).update(**fields)
    account.refresh_from_db()


def create_board_on(token: Token, *prompts: str, **fields: Any) -> Storyboard:
    """A storyboard of the token's owner, on a sandbox: Kestrel, 720p."""
    chosen = {"engine": "kestrel", "aspect_ratio": "16:9", "resolution": "720p", "title": "Harbour"}
    storyboard = Storyboard.objects.create(
        tenant=token.tenant,
        account=token.account,
        token=token,
        member=token.owner,
        **chosen | fields,
    )
    for prompt in prompts:
        add_scene(storyboard, prompt)
    return storyboard


def place(
    storyboard: Storyboard,
    mode: str = "",
    *,
    unready: dict[str, str] | None = None,
    engine_id: int = KESTREL_ID,
) -> Job:
    """As the editor does it: the storyboard's current copy contains it as it is now."""
    job = storyboard.copy
    if job is None:
        token = storyboard.token
        job = Job.objects.create(
            tenant=token.tenant,
            account=token.account,
            token=token,
            member=token.owner,
            kind=JobKind.STORYBOARD,
            title=storyboard.title,
        )
        Draft.objects.create(job=job)
        StoryboardCopy.objects.create(job=job, storyboard=storyboard)
        storyboard.copy = job
        storyboard.save()
    draft = Draft.objects.get(job=job)
    scenes = () if mode == "wizard" else storyboard.scenes.all()
    draft.settings = copy_content(
        storyboard, scenes, engine_id, draft.sent_settings, mode=mode, unready=unready
    )
    draft.estimate, draft.edited_at = None, timezone.now()
    draft.save()
    return Job.objects.select_related("draft", "token__account", "account").get(pk=job.pk)
