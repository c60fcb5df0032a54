"""What a member has entered for a voice, as its draft keeps it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import date
from typing import Any

from proxyapi.models import ChargeState, Job, JobState

UNNAMED = "New voice"
GENDERS = {"female": "Female", "male": "Male", "neutral": "Neutral"}
OWN_VOICE, ANOTHER_VOICE = "own", "another"
MAX_SAMPLES = 3  # spec, Limits
EDITABLE_STATES = (JobState.DRAFT, JobState.FAILED)


@dataclass(frozen=True, slots=True)
class CloneSettings:
    """`whose` is empty until it is chosen; `agreed_on` is of another person's voice."""

    name: str = ""
    gender: str = ""
    whose: str = ""
    speaker: str = ""
    agreed_on: date | None = None
    has_consent: bool = False
    buys_slot: bool = False

    @property
    def is_own(self) -> bool:
        return self.whose == OWN_VOICE

    @property
    def is_speaker_known(self) -> bool:
        is_known = bool(self.speaker and self.agreed_on is not None)
        return self.is_own or (self.whose == ANOTHER_VOICE and is_known)

    @property
    def gender_label(self) -> str:
        return GENDERS.get(self.gender, "")


def parse_clone_settings(chosen: dict[str, Any]) -> CloneSettings:
    day = chosen.get("agreed_on")
    return CloneSettings(
        name=str(chosen.get("name") or ""),
        gender=str(chosen.get("gender") or ""),
        whose=str(chosen.get("whose") or ""),
        speaker=str(chosen.get("speaker") or ""),
        agreed_on=date.fromisoformat(day) if day else None,
        has_consent=bool(chosen.get("terms")),
        buys_slot=bool(chosen.get("purchase_addon")),
    )


def settings_version(chosen: dict[str, Any]) -> str:
    """Return what a form that was built from these settings knows them by."""
    return hashlib.sha256(json.dumps(chosen, sort_keys=True).encode()).hexdigest()[:16]


def is_editable(job: Job) -> bool:
    """Whether the voice can be changed: it was not sent, or failed, and no request is open. With
    prefetched charges no query."""
    open_charges = (charge for charge in job.charges.all() if charge.is_open)
    return job.state in EDITABLE_STATES and not any(open_charges) and not is_made_without_id(job)


def is_made_without_id(job: Job) -> bool:
    """Whether the service made it, and its id was only in the lost answer."""
    return job.state == JobState.DRAFT and any(
        charge.unidentified_at is not None and charge.state != ChargeState.REFUSED
        for charge in job.charges.all()
    )
