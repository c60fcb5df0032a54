"""Admit an intent for the member whose job or token it is on, within no limits."""

from __future__ import annotations

from decimal import Decimal

from proxyapi.charges import ChargeIntent, admit
from proxyapi.models import Charge
from proxyapi.refusals import SpendingLimit

NO_ROOM = SpendingLimit("none", Decimal(-1))


def admit_charge(intent: ChargeIntent) -> Charge:
    return admit(intent, payer_of(intent)).charge


def create_draft_charge(intent: ChargeIntent) -> Charge:
    return admit(intent, payer_of(intent), [NO_ROOM], needs_approval=True).charge


def payer_of(intent: ChargeIntent) -> int:
    return intent.job.member_id if intent.job else intent.target.owner_id  # type: ignore[union-attr]
