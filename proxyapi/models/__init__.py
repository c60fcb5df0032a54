"""The tables of everything that touches the upstream, one noun a file."""

from __future__ import annotations

from proxyapi.models.account import Account, Plan
from proxyapi.models.call import Call, CallOutcome
from proxyapi.models.charge import Charge, ChargeState
from proxyapi.models.entry import Entry
from proxyapi.models.job import Job, JobKind, JobState
from proxyapi.models.key import Key
from proxyapi.models.token import Token, TokenState
from proxyapi.models.vault import Vault

__all__ = [
    "Account",
    "Call",
    "CallOutcome",
    "Charge",
    "ChargeState",
    "Entry",
    "Job",
    "JobKind",
    "JobState",
    "Key",
    "Plan",
    "Token",
    "TokenState",
    "Vault",
]
