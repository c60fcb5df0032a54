"""What the database itself refuses: consents without a speaker or a date, a second star."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.models import Membership, VoiceConsent
from proxyapi.models import Job
from tests.dashboard.voices.conftest import create

pytestmark = pytest.mark.postgresql


def consent(by: Membership, job: Job, **fields: Any) -> VoiceConsent:
    return VoiceConsent.objects.create(
        **{
            "team": by.team,
            "job": job,
            "voice_name": "Maren",
            "is_own": True,
            "speaker": "Maren Holt",
            "confirmed_by": by.user,
            "samples": [],
            **fields,
        }
    )


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"speaker": ""}, "voice_consent_has_a_speaker"),
        ({"is_own": False}, "voice_consent_of_another_has_a_date"),
        ({"withdrawn_at": timezone.now()}, "voice_consent_withdrawn_by_a_person"),
    ],
)
def test_a_consent_that_proves_nothing_is_not_kept(
    fields: dict[str, Any], constraint: str, voice: Job, priya: Membership
) -> None:
    consent(priya, voice)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        consent(priya, voice, **fields)


def test_a_request_has_one_consent(voice: Job, priya: Membership) -> None:
    charge = create(priya, voice)
    with pytest.raises(IntegrityError), transaction.atomic():
        consent(priya, voice, charge=charge)


def test_a_consent_outlives_its_voice(voice: Job, priya: Membership) -> None:
    kept = consent(priya, voice)
    voice.stored_files.all().delete()
    voice.draft.delete()
    voice.delete()
    kept.refresh_from_db()
    assert (kept.job, kept.voice_name) == (None, "Maren")
