"""Models of each sort, an account that offers them, and a priced draft of Priya's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Account, Job, JobKind, Token
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi.money.in_process_sandbox import in_process_sandbox, sandbox_with_account
from tests.proxyapi.money.sandbox_account import SandboxAccount

Browser = Callable[[Membership], Any]
HTMX = {"HX-Request": "true"}
PROMPT = "A paper boat crosses a flooded city square at dawn"


def offered(*values: Any, default: Any = None) -> dict[str, Any]:
    return {"options": list(values), "default": values[0] if default is None else default}


RATIOS = offered("16:9", "9:16", "auto")
FRAME, FILM = {"type": "image", "required": False}, {"type": "video", "required": False}
MODELS: list[dict[str, Any]] = [
    {
        "slug": "brook",
        "name": "Brook",
        "description": "Everyday clips",
        "modifiers": {
            "duration": {"min": 1, "max": 15, "default": 5},
            "resolution": offered("480p", "720p"),
            "aspect_ratio": RATIOS,
            "first_frame": FRAME,
        },
        "cost": [
            {"credits_per_second": "1.1", "resolution": "480p"},
            {"credits_per_second": "1.9", "resolution": "720p"},
        ],
    },
    {
        "slug": "kestrel-voice",
        "name": "Kestrel Voice",
        "modifiers": {
            "duration": offered(5, 8, 12),
            "resolution": offered("720p", "1080p"),
            "aspect_ratio": RATIOS,
            "audio": offered("on", "off"),
            "first_frame": FRAME,
        },
        "cost": [
            {"credits_per_second": "2.72", "resolution": "720p", "audio": "off"},
            {"credits_per_second": "4.08", "resolution": "720p", "audio": "on"},
            {"credits_per_second": "5.44", "resolution": "1080p", "audio": "on"},
        ],
    },
    {
        "slug": "marlow-02",
        "name": "Marlow 02",
        "modifiers": {
            "duration": offered(6, 10),
            "resolution": offered("768P", "512P", "1080P"),
            "aspect_ratio": RATIOS,
        },
        "cost": [{"credits_per_second": "2.55"}],
    },
    {
        "slug": "tessera",
        "name": "Tessera",
        "modifiers": {
            "duration": {"min": 2, "max": 12, "default": 5},
            "resolution": offered("1080p"),
            "aspect_ratio": RATIOS,
            "image": {"type": "image", "required": True},
            "video": FILM,
        },
        "cost": [{"credits_per_second": "6.12", "resolution": "1080p"}],
    },
]
SETTINGS: dict[str, Any] = {
    "model": "kestrel-voice",
    "duration": 8,
    "resolution": "720p",
    "aspect_ratio": "16:9",
    "audio": "on",
    "prompt": PROMPT,
}


@pytest.fixture
def account(priya: Membership) -> Account:
    return AccountFactory.create(tenant=priya.team.tenant, clip_models=MODELS, balance=Decimal(900))


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def priced(token: Token) -> Job:
    """A draft of 8 s with Kestrel Voice at 33 credits."""
    return make_clip_draft(token, SETTINGS, Decimal(33))


@pytest.fixture
def paying(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[SandboxAccount]:
    """An account of the sandbox, with more credits than a test spends."""
    with (
        in_process_sandbox(tmp_path, monkeypatch, settings) as sandbox,
        sandbox_with_account(sandbox, {}, credits=1_000_000, monthly_credits=1_000_000) as stage,
    ):
        yield stage


def make_clip_draft(token: Token, settings: dict[str, Any], estimate: Decimal | None = None) -> Job:
    return JobFactory.create(
        account=token.account,
        token=token,
        member=token.owner,
        kind=JobKind.CLIP,
        title=PROMPT,
        draft__settings=settings,
        draft__sent_settings=settings if estimate is not None else {},
        draft__estimate=estimate,
        draft__estimate_as_of=timezone.now(),
    )


def form_of(job: Job, **changes: Any) -> dict[str, Any]:
    """What the composer's form posts for this draft."""
    options = {
        name: value for name, value in job.draft.settings.items() if isinstance(value, str | int)
    }
    return {
        "draft": str(job.pk),
        "edited_at": job.draft.edited_at.isoformat(),
        "menus": "",
        **options,
        **changes,
    }


def save(browser: Any, data: dict[str, Any], **headers: str) -> Any:
    return browser.post(reverse("clip-drafts"), data, headers=headers)
