"""A job that is ready to render, and a scripted upstream behind the real client."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal

import httpx
import pytest

from proxyapi import calls
from proxyapi.charges import Intent, record
from proxyapi.models import Charge, Job
from proxyapi.upstream.client import Client
from tests.factories import AccountFactory, JobFactory
from tests.proxyapi.upstream_script import BASE, Upstream, answer

SETTINGS = {
    "type": "ai-visuals",
    "title": "Ice",
    "script": "Ice moves.",
    "voice_id": 3,
    "genre_id": 2,
}


def video(status: str, **more: object) -> dict[str, object]:
    return {"id": 7, "script": "Ice moves.", "video": {"status": status}, **more}


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> Iterator[Upstream]:
    script = Upstream()
    client = Client(BASE, transport=httpx.MockTransport(script.handle))
    monkeypatch.setattr(calls, "client", lambda: client)
    script.on("GET", "/faceless/7", answer(video("draft")))
    yield script


@pytest.fixture
def job(db: None) -> Job:
    account = AccountFactory(balance=Decimal(1000))
    return JobFactory(account=account, remote_id="7", wanted=SETTINGS, sent=SETTINGS)


@pytest.fixture
def held(job: Job) -> Callable[..., Charge]:
    """Records a held charge for the job."""

    def make(operation: str = "faceless.render", hold: int = 106, **fields: object) -> Charge:
        intent = Intent(
            job=job,
            member_id=job.member_id,
            operation=operation,
            nonce=uuid.uuid4(),
            hold=Decimal(hold),
            quote=Decimal(96),
            **fields,  # type: ignore[arg-type]
        )
        return record(intent)

    return make
