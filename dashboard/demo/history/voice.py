"""The voice that a member of the demo cloned: its calls at the sandbox, and the portal's rows."""

from __future__ import annotations

import base64
import hashlib
import io
import math
import uuid
import wave
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from dashboard.demo.history.plan import PAST_DAYS
from dashboard.demo.history.replay import Call, ReplayAnswer, build_call
from dashboard.models import Membership, VoiceConsent
from proxyapi.kinds import KINDS
from proxyapi.kinds.voice_clone import CREATE_CLONE
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    ClonedVoice,
    Draft,
    Job,
    JobKind,
    JobState,
    Token,
)

VOICE_DAY, VOICE_HOUR = PAST_DAYS - 22, 6  # after the account was opened
MEMBER = "Priya"
NAME, GENDER, SPEAKER = "Maren", "female", "Maren Holt"
SAMPLE_NAME, SAMPLE_S, SAMPLE_RATE_HZ, SAMPLE_PITCH_HZ = "maren-studio.wav", 6, 4000, 196
READ_AFTER = timedelta(minutes=8)
REQUEST_DURATION = timedelta(milliseconds=900)
CREATION, READ = "voice", "voice read"


def sample_wav() -> bytes:
    """A tone: nobody of the demo has a voice."""
    turn = 2 * math.pi * SAMPLE_PITCH_HZ / SAMPLE_RATE_HZ
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(1)
        sound.setframerate(SAMPLE_RATE_HZ)
        frames = (int(128 + 60 * math.sin(turn * at)) for at in range(SAMPLE_S * SAMPLE_RATE_HZ))
        sound.writeframes(bytes(frames))
    return file.getvalue()


def voice_calls(opened_at: datetime, token: str) -> Iterator[Call]:
    """It uses the free slot, so the ledger has nothing of it."""
    at = opened_at + timedelta(days=VOICE_DAY, hours=VOICE_HOUR)
    sample = {
        "field": "samples[]",
        "name": SAMPLE_NAME,
        "content_type": "audio/wav",
        "content": base64.b64encode(sample_wav()).decode(),
    }
    fields = {"terms": "true", "name": NAME, "gender": GENDER}
    path = "/v2/voice-clones"
    yield build_call(at, "POST", path, name=CREATION, body=fields, file=sample, token=token)
    read = f"{path}/{{{CREATION}.data.id}}"
    yield build_call(at + READ_AFTER, "GET", read, name=READ, token=token)


def store_voice(
    account: Account,
    answers: Mapping[str, ReplayAnswer],
    members: Mapping[str, Membership],
    tokens: Mapping[str, Token],
) -> None:
    """Store the voice with its consent, as the portal would have at that time."""
    created, read, by = answers[CREATION], answers[READ], members[MEMBER]
    reading = KINDS[JobKind.CLONE].read_status(read.data)
    job = Job.objects.create(
        tenant_id=account.tenant_id,
        account=account,
        token=tokens[MEMBER],
        member=by.user,
        kind=JobKind.CLONE,
        remote_id=str(created.data["id"]),
        title=NAME,
        state=reading.state or JobState.RUNNING,
        raw_status=reading.raw_status,
        media_url=reading.media_url,
        media_as_of=read.at,
        created_at=created.at - READ_AFTER,
        started_at=created.at,
        finished_at=read.at,
        polled_at=read.at,
    )
    agreed_on = created.at.date() - timedelta(days=2)
    chosen: dict[str, object] = {"name": NAME, "gender": GENDER, "speaker": SPEAKER}
    chosen |= {"whose": "another", "agreed_on": agreed_on.isoformat(), "terms": True}
    Draft.objects.create(job=job, settings=chosen, sent_settings=chosen, edited_at=created.at)
    store_consent(by, job, store_free_charge(job, created.at), agreed_on)
    ClonedVoice.objects.create(job=job, voice_id=str(read.data.get("voice_id") or ""))


def store_consent(by: Membership, job: Job, charge: Charge, agreed_on: date) -> None:
    content = sample_wav()
    checksum = hashlib.sha256(content).hexdigest()
    sample = {"name": SAMPLE_NAME, "size": len(content), "seconds": SAMPLE_S, "sha256": checksum}
    VoiceConsent.objects.create(
        team=by.team,
        job=job,
        charge=charge,
        voice_name=NAME,
        is_own=False,
        speaker=SPEAKER,
        agreed_on=agreed_on,
        confirmed_by=by.user,
        confirmed_at=charge.created_at,
        samples=[sample],
    )


def store_free_charge(job: Job, sent_at: datetime) -> Charge:
    answered_at, free = sent_at + REQUEST_DURATION, Decimal(0)
    return Charge.objects.create(
        tenant_id=job.tenant_id,
        account=job.account,
        token=job.token,
        member=job.member,
        job=job,
        operation=CREATE_CLONE,
        body={"terms": True, "name": NAME, "gender": GENDER},
        nonce=uuid.uuid4(),
        state=ChargeState.CONFIRMED,
        quote=free,
        hold=free,
        cost=free,
        status=201,
        created_at=sent_at,
        held_at=sent_at,
        sent_at=sent_at,
        settled_at=answered_at,
        applied_at=answered_at,
        due_at=answered_at,
    )
