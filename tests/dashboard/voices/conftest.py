"""A voice that Priya is about to clone, and a scripted upstream behind the real client."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from dashboard.models import Membership
from dashboard.shared.uploads.recordings import read_recording
from dashboard.voices import actions
from proxyapi.models import Account, Charge, Job, JobKind, Token, VoiceSlots
from tests.factories import AccountFactory, JobFactory, TokenFactory
from tests.proxyapi.scripted_upstream import ScriptedUpstream, make_response, replace_upstream
from tests.recordings import make_wav

Browser = Callable[[Membership], Any]
VOICES = [
    {"id": 3, "name": "Maren", "language": "English, German", "gender": "female"},
    {"id": 7, "name": "Theo", "language": "English", "gender": "male"},
    {"id": 11, "name": "Aurélie", "language": "French", "gender": "female"},
]
CHOSEN = {
    "name": "Priya, bright",
    "gender": "female",
    "whose": "another",
    "speaker": "Priya Raman",
    "agreed_on": "2026-11-01",
    "terms": True,
    "purchase_addon": False,
}
WAV = make_wav(6)


def options_of(*voices: dict[str, Any]) -> dict[str, Any]:
    return {"mandatory": {"voices": [*VOICES, *voices]}, "optional": {}}


def slots_response(available: object = 1, cost: object = 50, can_buy: object = True) -> Any:
    return make_response({"available": available, "can_buy": can_buy, "cost": cost})


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> ScriptedUpstream:
    script = replace_upstream(monkeypatch)
    script.respond("GET", "/voice-clones/slots", slots_response())
    return script


@pytest.fixture
def account(priya: Membership) -> Account:
    return AccountFactory.create(
        tenant=priya.team.tenant, options=options_of(), options_as_of=timezone.now()
    )


@pytest.fixture
def token(account: Account, priya: Membership) -> Token:
    return TokenFactory.create(account=account, owner=priya.user)


@pytest.fixture
def slots(account: Account) -> VoiceSlots:
    return VoiceSlots.objects.create(
        account=account, available=1, can_buy=True, cost=Decimal(50), read_at=timezone.now()
    )


@pytest.fixture
def voice(token: Token, slots: VoiceSlots, priya: Membership) -> Job:
    """A draft with all that its creation needs, and one sample."""
    job = JobFactory.create(
        account=token.account,
        token=token,
        kind=JobKind.CLONE,
        title="Priya, bright",
        draft__settings=CHOSEN,
    )
    recordings = [("lake.wav", read_recording(WAV))]
    actions.add_samples(by=priya, job=job, recordings=recordings)
    return Job.objects.get(pk=job.pk)


def create(by: Membership, job: Job, price: int = 0, **changes: Any) -> Charge:
    """Confirm the price question of a voice as it is now."""
    job = Job.objects.select_related("draft", "account", "token").get(pk=job.pk)
    arguments = {
        "nonce": uuid.uuid4(),
        "seen": Decimal(price),
        "edited_at": job.draft.edited_at.isoformat(),
        **changes,
    }
    return actions.create_voice(by=by, job=job, **arguments)
