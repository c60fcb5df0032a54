"""Northlight's films: one account, Priya's token, jobs in every state by one word."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership, Team
from dashboard.shared.live.stream_sessions import StreamSession
from proxyapi.models import Account, Charge, Job, Token
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, replace_upstream

SCRIPT = "Ice moves like a slow river, and it keeps a diary."
SETTINGS = {"type": "ai-visuals", "aspect_ratio": "16:9", "script": SCRIPT, "voice_id": 11}
OPTIONS = {"mandatory": {"voices": [{"id": 11, "name": "Maren"}]}, "optional": {}}
FILM = "http://127.0.0.1:8001/media/film.mp4"

MakeVideoJob = Callable[..., Job]


def ago(seconds: float) -> Any:
    return timezone.now() - timedelta(seconds=seconds)


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> ScriptedUpstream:
    return replace_upstream(monkeypatch)


@pytest.fixture
def account(northlight: Team) -> Account:
    return AccountFactory.create(tenant=northlight.tenant, options=OPTIONS)


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def make_video_job(token: Token) -> MakeVideoJob:
    """Makes a job of Priya's in a state, with what such a job has."""
    states: dict[str, dict[str, Any]] = {
        "draft": {},
        "running": {
            "raw_status": "rendering",
            "started_at": ago(100),
            "polled_at": ago(4),
            "next_poll_at": ago(-9),
        },
        "completed": {
            "raw_status": "completed",
            "started_at": ago(400),
            "finished_at": ago(100),
            "media_url": FILM,
        },
        "failed": {
            "raw_status": "failed",
            "started_at": ago(400),
            "finished_at": ago(100),
            "failure_code": "SCENE-IMAGE",
            "failure_message": "Image for scene 7 could not be made.",
        },
    }

    def make(state: str = "draft", **fields: Any) -> Job:
        chosen = SETTINGS | {"title": "Glacier"} | fields.pop("draft__settings", {})
        given: dict[str, Any] = (
            {"remote_id": uuid.uuid4().hex, "token": token} | states[state] | fields
        )
        if state != "draft":
            given.setdefault("draft__sent_settings", chosen)
        account = given["token"].account
        return JobFactory.create(state=state, account=account, draft__settings=chosen, **given)

    return make


@pytest.fixture
def add_settled_charge() -> Callable[..., Charge]:
    """A settled charge of a job: 96 cr for a render, unless said otherwise."""

    def make(job: Job, cost: int = 96, operation: str = "faceless.render", **fields: Any) -> Charge:
        when = fields.pop("sent_at", ago(300))
        given: dict[str, Any] = {"sent_at": when, "created_at": when, "settled_at": when}
        fields.setdefault("state", "confirmed")
        return ChargeFactory.create(
            job=job, operation=operation, cost=Decimal(cost), **(given | fields)
        )

    return make


@pytest.fixture
def add_open_charge() -> Callable[..., Charge]:
    """An open charge of a job in a state: 42 cr asked, 46 held."""

    def make(job: Job, state: str, **fields: Any) -> Charge:
        sent = None if state == "held" else ago(60)
        given: dict[str, Any] = {"sent_at": sent, "quote": Decimal(42), "hold": Decimal(46)}
        return ChargeFactory.create(job=job, state=state, **(given | fields))

    return make


@pytest.fixture
def stream_session_of(client_of):
    def make(membership):
        session = client_of(membership).session.session_key
        return StreamSession(
            membership.team.tenant_id, membership.team_id, membership.user_id, session
        )

    return make
