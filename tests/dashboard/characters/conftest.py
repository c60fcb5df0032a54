"""Luca's characters: one account with its genres and prices, a photo, previews, a training."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from dashboard.characters import actions
from dashboard.models import Membership
from dashboard.shared.uploads.pictures import read_photo
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import Account, CharacterGenres, Charge, ChargeState, Draft, Job, Token
from tests.factories import AccountFactory, ChargeFactory, TokenFactory

Browser = Callable[[Membership], Any]
GENRES = [{"id": 301, "name": "Studio Portrait"}, {"id": 308, "name": "Picture Book"}]
DETAILS = {"name": "Maja", "age": 28, "gender": "female"}


def jpeg(width: int = 640, height: int = 800) -> bytes:
    """A photo; it needs the extra `media`."""
    pillow, file = pytest.importorskip("PIL.Image"), io.BytesIO()
    pillow.new("RGB", (width, height), (190, 180, 170)).save(file, "JPEG")
    return file.getvalue()


def upload(content: bytes | None = None, name: str = "maja-portrait.jpg") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, jpeg() if content is None else content, "image/jpeg")


@pytest.fixture
def account(luca: Membership) -> Account:
    account: Account = AccountFactory.create(
        tenant=luca.team.tenant,
        balance=Decimal(100),
        costs={"CHARACTER_TRAINING": {"credits": 10}, "CHARACTER_PREVIEW": {"credits": 0}},
    )
    now = timezone.now()
    CharacterGenres.objects.create(account=account, genres=GENRES, read_at=now)
    return account


@pytest.fixture
def token(account: Account, luca: Membership) -> Token:
    return TokenFactory.create(account=account, owner=luca.user)


@pytest.fixture
def character(luca: Membership, token: Token) -> Job:
    """With its photo, which waits here."""
    return actions.start_character(by=luca, photo=read_photo(jpeg()), file_name="maja-portrait.jpg")


@pytest.fixture
def previewed(character: Job) -> Job:
    """With one round of two pictures, in a chosen genre."""
    Draft.objects.update(settings={"genre_id": 308})
    Job.objects.update(remote_id="5200")
    charge = add_charge(character, "characters.preview", ChargeState.MATCHED, cost=0)
    rows = [{"id": 93001 + n, "url": f"https://media.example/{n}.png"} for n in range(2)]
    store_parts(character, {"previews": rows}, ("previews",))
    character.parts.update(charge=charge)
    character.refresh_from_db()
    return character


@pytest.fixture
def ready_to_train(previewed: Job) -> Job:
    Draft.objects.update(settings={"genre_id": 308, "preview_id": 93001, **DETAILS})
    Job.objects.update(title="Maja")
    return Job.objects.select_related("draft").get(pk=previewed.pk)


def add_charge(job: Job, operation: str, state: ChargeState, **fields: Any) -> Charge:
    sent_at = timezone.now() - timedelta(seconds=50)
    facts = {"quote": 0, "hold": 0, "body": {"genre_id": 308}, "sent_at": sent_at, **fields}
    if state in (ChargeState.CONFIRMED, ChargeState.MATCHED):
        facts["applied_at"] = facts["settled_at"] = timezone.now() - timedelta(seconds=9)
    return ChargeFactory.create(job=job, operation=operation, state=state, **facts)


def set_state(job: Job, state: str, **fields: Any) -> Job:
    now = timezone.now()
    times = {"started_at": now, "next_poll_at": now, "polled_at": now}
    Job.objects.filter(pk=job.pk).update(state=state, **times, **fields)
    job.refresh_from_db()
    return job
