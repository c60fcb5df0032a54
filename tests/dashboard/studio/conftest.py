"""A draft of Priya's with all that a render needs, and the options it was chosen from."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import Membership
from proxyapi.models import Account, Job, Token
from tests.factories import AccountFactory, JobFactory, TokenFactory

# What `client_of` gives, without the types of a test client: they know no `url`.
Browser = Callable[[Membership], Any]
# Ids and slugs are opaque: these look like no service's on purpose.
OPTIONS: dict[str, Any] = {
    "mandatory": {
        "aspect_ratios": [
            {"slug": "16:9", "label": "Landscape"},
            {"slug": "tall-one", "label": "Portrait"},
        ],
        "genres": [{"id": 941, "name": "Cinematic", "slug": "x"}, {"id": 942, "name": "Noir"}],
        "image_engines": [
            {"id": 71, "name": "Flux", "type": "text-to-image", "cost": 1},
            {"id": 72, "name": "Atelier", "type": "text-to-image", "cost": 3},
        ],
        "voices": [
            {"id": 3, "name": "Maren", "language": "English, German", "gender": "female"},
            {"id": 7, "name": "Theo", "language": "English", "gender": "male"},
            {"id": 11, "name": "Aurélie", "language": "French", "gender": "female"},
        ],
    },
    "optional": {
        "fonts": [{"name": "Serif", "slug": "f-1"}],
        "caption_effects": [{"name": "Karaoke", "slug": "e-9"}],
        "volumes": [{"name": "Low", "slug": "v-low"}, {"name": "No value"}],
    },
}
SCRIPT = " ".join(["ice"] * 151)
WANTED: dict[str, Any] = {
    "type": "ai-visuals",
    "title": "How to read a glacier",
    "aspect_ratio": "16:9",
    "script": SCRIPT,
    "voice_id": 3,
    "genre_id": 941,
    "image_engine_id": 71,
}


@pytest.fixture
def account(priya: Membership) -> Account:
    return AccountFactory.create(
        tenant=priya.team.tenant,
        options=OPTIONS,
        costs={"CONTENT_PROMPT_REQUESTED": {"credits": 4}},
    )


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def draft(token: Token) -> Job:
    """Empty but for its type and title."""
    return JobFactory.create(account=token.account, token=token)


@pytest.fixture
def ready(token: Token) -> Job:
    """Complete and priced: 96 credits."""
    return JobFactory.create(
        account=token.account,
        token=token,
        draft__settings=WANTED,
        draft__sent_settings=WANTED,
        remote_id="501",
        draft__estimate=Decimal(96),
        draft__estimate_as_of=timezone.now(),
    )


def step_url(job: Job, step: str) -> str:
    return reverse("studio-step", args=[job.pk, step])


def job_url(job: Job, name: str) -> str:
    return reverse(f"studio-{name}", args=[job.pk])


def get_page(browser: Any, url: str, **headers: str) -> str:
    return str(browser.get(url, headers=headers).content.decode())
