"""Record: the intent row, written with its hold in one transaction, before anything is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi.events import Event, publish
from proxyapi.models import Account, Charge, ChargeState, Job
from proxyapi.models.charge import STARTS_RENDERING
from proxyapi.refusals import AlreadyOpen, NotEnoughCredits, Stale
from proxyapi.upstream.catalog import operation

# The doorbell rings at once; the sweep takes over when nobody answered it.
SWEEP_AFTER = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class Intent:
    """What somebody decided: one charging operation on one job, at a price they saw."""

    job: Job
    member_id: int
    operation: str
    nonce: UUID
    hold: Decimal
    quote: Decimal | None = None
    body: dict[str, Any] = field(default_factory=dict)


@transaction.atomic
def record(intent: Intent) -> Charge:
    """Write the charge and reserve its hold, or answer the one this form already made.

    Raises `AlreadyOpen` when the same operation is under way, `Stale` when the job is no longer
    what was decided on, `NotEnoughCredits` when the hold does not fit. The account row is locked
    meanwhile: two members cannot both pass on the last credit.
    """
    if not operation(intent.operation).charging:
        raise ValueError(f"{intent.operation} charges nothing")
    account = Account.objects.select_for_update().get(pk=intent.job.account_id)
    if existing := sent_before(intent.job, intent.operation, intent.nonce, intent.body):
        return existing
    job = Job.objects.select_for_update().get(pk=intent.job.pk)
    check_unchanged(job, intent)
    if job.charges.open().exists():
        raise AlreadyOpen("This video has something under way already. Nothing was sent twice.")
    if intent.hold > (free := account.free_to_spend()):
        raise NotEnoughCredits(intent.hold, free)
    charge = Charge.objects.create(
        vault_id=job.vault_id,
        account=account,
        token_id=job.token_id,
        member_id=intent.member_id,
        job=job,
        operation=intent.operation,
        body=intent.body,
        nonce=intent.nonce,
        state=ChargeState.HELD,
        quote=intent.quote,
        hold=intent.hold,
        due_at=timezone.now() + SWEEP_AFTER,
    )
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    return charge


def sent_before(job: Job, operation: str, nonce: UUID, body: Mapping[str, object]) -> Charge | None:
    """The charge that this form made already: a form sent twice is one charge.

    Raises `AlreadyOpen` when the form's nonce stands under another deed.
    """
    charge = Charge.objects.filter(vault_id=job.vault_id, nonce=nonce).first()
    if charge is None:
        return None
    if (charge.job_id, charge.operation, charge.body) != (job.pk, operation, body):
        raise AlreadyOpen("This form was used for something else already. Nothing was sent.")
    return charge


def check_unchanged(job: Job, intent: Intent) -> None:
    """The price is one of these settings, and a job that started meanwhile is not started again."""
    seen, priced = intent.job, intent.operation in STARTS_RENDERING
    if job.state != seen.state or (priced and job.edited_at != seen.edited_at):
        raise Stale("This video changed meanwhile. Nothing was sent. Look at it again first.")
