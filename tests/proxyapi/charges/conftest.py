"""A job that is ready to render, and a scripted upstream behind the real client."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal

import pytest

from proxyapi.charges import ChargeIntent
from proxyapi.models import Charge, Job
from tests.admission import admit_charge
from tests.factories import AccountFactory, JobFactory, create_account_of_another_team
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response

SETTINGS = {
    "type": "ai-visuals",
    "title": "Ice",
    "script": "Ice moves.",
    "voice_id": 3,
    "genre_id": 2,
}


def video_response(status: str | None, **more: object) -> dict[str, object]:
    return {"id": 7, "script": "Ice moves.", "video": {"status": status}, **more}


@pytest.fixture
def upstream(upstream: ScriptedUpstream) -> ScriptedUpstream:
    upstream.respond("GET", "/faceless/7", make_response(video_response("draft")))
    return upstream


@pytest.fixture
def job(db: None) -> Job:
    account = AccountFactory(balance=Decimal(1000))
    return JobFactory(
        account=account, remote_id="7", draft__settings=SETTINGS, draft__sent_settings=SETTINGS
    )


@pytest.fixture
def other_teams_job(job: Job) -> Job:
    """A job of another team, on the same account at the service."""
    account = create_account_of_another_team(job.account)
    return JobFactory(
        account=account, remote_id="8", draft__settings=SETTINGS, draft__sent_settings=SETTINGS
    )


@pytest.fixture
def make_held_charge(job: Job) -> Callable[..., Charge]:
    """Records a held charge for the job."""

    def make(operation: str = "faceless.render", hold: int = 106, **fields: object) -> Charge:
        intent = ChargeIntent(
            job=job,
            operation=operation,
            nonce=uuid.uuid4(),
            hold=Decimal(hold),
            **{"quote": Decimal(96), **fields},  # type: ignore[arg-type]
        )
        return admit_charge(intent)

    return make
