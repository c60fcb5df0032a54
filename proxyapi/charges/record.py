"""Record: the intent row, written with its hold in one transaction, before anything is sent.

A charge that needs somebody's consent first is asked for (`draft`, holds nothing), and then
released or withdrawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from proxyapi import costs, failpoints
from proxyapi.charges import outcome
from proxyapi.events import Event, publish
from proxyapi.models import Account, Charge, ChargeState, Job, Token, Upload
from proxyapi.models.charge import HOLDING, STARTS_RENDERING
from proxyapi.refusals import AlreadyOpen, NotEnoughCredits, NotReady, Stale
from proxyapi.upstream.catalog import operation
from proxyapi.watching.clock import PUT_BACK

# The doorbell rings at once; the sweep takes over when nobody answered it.
SWEEP_AFTER = timedelta(seconds=10)
UNDER_WAY = "This video has something under way already. Nothing was sent twice."
SAME_UNDER_WAY = "The same is under way already. Nothing was sent twice."


@dataclass(frozen=True, slots=True)
class Intent:
    """What somebody decided: one charging operation, at a price they saw.

    On a job, or, where the operation has none (a search for ideas), on a token. `path` holds the
    parameters of the path besides the job's own id; `uploads` are rows that are not saved yet.
    """

    job: Job | None
    member_id: int
    operation: str
    nonce: UUID
    hold: Decimal
    quote: Decimal | None = None
    body: dict[str, Any] = field(default_factory=dict)
    token: Token | None = None
    path: dict[str, str] = field(default_factory=dict)
    uploads: tuple[Upload, ...] = ()

    @property
    def vault_id(self) -> UUID:
        return self.charged.vault_id

    @property
    def account_id(self) -> UUID:
        return self.charged.account_id

    @property
    def charged(self) -> Job | Token:
        """What says on which token and account it goes."""
        found = self.job or self.token
        if found is None:
            raise ValueError("an intent needs a job or a token")
        return found


@transaction.atomic
def record(intent: Intent) -> Charge:
    """Write the charge and reserve its hold, or answer the one this form already made.

    Raises `AlreadyOpen` when the same operation is under way, `Stale` when the job is no longer
    what was decided on, `NotEnoughCredits` when the hold does not fit, `NotReady` when the account
    is of another upstream. The account is locked meanwhile: two members, or two teams, cannot both
    pass on the last credit.
    """
    account = lock(intent)
    if existing := made_before(intent):
        return existing
    check_upstream(account)
    job = check_open(intent)
    check_fits(account, intent.hold)
    return write(intent, account, job, ChargeState.HELD)


@transaction.atomic
def ask(intent: Intent) -> Charge:
    """Write the charge as a draft that waits for somebody's consent; it reserves nothing.

    Raises as `record` does, but for the credits: they are looked at when it is released.
    """
    account = lock(intent)
    if existing := made_before(intent):
        return existing
    check_upstream(account)
    return write(intent, account, check_open(intent), ChargeState.DRAFT)


@transaction.atomic
def release(charge: Charge, price: Decimal | None = None) -> Charge:
    """Consent to a draft: its hold is reserved and it may be sent. Twice is once.

    As a charge it is of now: a budget counts it in the period of the consent. `price`: what it
    costs now, where that is less than what was seen.
    Raises `NotEnoughCredits`, `NotReady` when the account is of another upstream, and `Stale` when
    it was withdrawn or its video is another by now.
    """
    account = Account.objects.locked(charge.account_id)
    charge.refresh_from_db()
    if charge.state in HOLDING:
        return charge
    if charge.state != ChargeState.DRAFT:
        raise Stale("This was decided already. Nothing was sent.")
    check_upstream(account)
    check_as_asked(charge)
    if price is not None:
        charge.quote, charge.hold = price, costs.hold_of(charge.operation, price)
    check_fits(account, charge.hold)
    now = timezone.now()
    moved = {"created_at": now, "held_at": now, "due_at": now + SWEEP_AFTER, "reason": ""}
    priced = {"quote": charge.quote, "hold": charge.hold}
    Charge.objects.move(charge, ChargeState.HELD, **moved, **priced)
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    return charge


@transaction.atomic
def withdraw(charge: Charge, sentence: str) -> Charge:
    """End a draft that nobody consented to; the sentence stays with it. Nothing was sent.

    Raises `Stale` when it was released meanwhile.
    """
    Account.objects.lock(charge.account_id)
    charge.refresh_from_db()
    if charge.state == ChargeState.REFUSED:
        return charge
    if charge.state != ChargeState.DRAFT:
        raise Stale("This was released meanwhile. It is on its way.")
    Charge.objects.move(charge, ChargeState.REFUSED, reason=sentence, settled_at=timezone.now())
    charge.uploads.all().delete()
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    return charge


@transaction.atomic
def cancel(charge: Charge, sentence: str) -> bool:
    """End a charge that is held, and so was provably not sent: its credits are free again. False
    when a worker took it meanwhile; then its answer settles it."""
    Account.objects.lock(charge.account_id)
    charge.reread()
    if charge.state != ChargeState.HELD:
        return False
    outcome.free(charge, sentence, None)
    return True


def lock(intent: Intent) -> Account:
    if not operation(intent.operation).charging:
        raise ValueError(f"{intent.operation} charges nothing")
    return Account.objects.locked(intent.account_id)


def made_before(intent: Intent) -> Charge | None:
    return same_nonce(
        intent.vault_id, intent.nonce, intent.job, intent.operation, intent.path, intent.body
    )


def sent_before(job: Job, operation: str, nonce: UUID, body: Mapping[str, object]) -> Charge | None:
    """The charge that this form made already: a form sent twice is one charge.

    Raises `AlreadyOpen` when the form's nonce stands under another deed.
    """
    return same_nonce(job.vault_id, nonce, job, operation, {}, body)


def same_nonce(
    vault_id: UUID,
    nonce: UUID,
    job: Job | None,
    operation: str,
    path: Mapping[str, str],
    body: Mapping[str, object],
) -> Charge | None:
    charge = Charge.objects.filter(vault_id=vault_id, nonce=nonce).first()
    if charge is None:
        return None
    deed = (job.pk if job else None, operation, path, body)
    if (charge.job_id, charge.operation, charge.path, charge.body) != deed:
        raise AlreadyOpen("This form was used for something else already. Nothing was sent.")
    return charge


def check_open(intent: Intent) -> Job | None:
    """Nothing else is under way on the job, and it is what was decided on; answers it, locked."""
    if intent.job is None:
        same = Charge.objects.open().filter(account_id=intent.account_id, job=None)
        if same.filter(operation=intent.operation, path=intent.path, body=intent.body).exists():
            raise AlreadyOpen(SAME_UNDER_WAY)
        return None
    job = Job.objects.select_for_update().get(pk=intent.job.pk)
    check_unchanged(job, intent)
    if job.charges.open().exists():
        raise AlreadyOpen(UNDER_WAY)
    return job


def check_unchanged(job: Job, intent: Intent) -> None:
    """The price is one of these settings, and a job that started meanwhile is not started again,
    not even when it has failed again since."""
    seen, priced = intent.job or job, intent.operation in STARTS_RENDERING
    as_seen = (job.edited_at, job.finished_at) == (seen.edited_at, seen.finished_at)
    if job.state != seen.state or (priced and not as_seen):
        raise Stale("This video changed meanwhile. Nothing was sent. Look at it again first.")


def check_as_asked(charge: Charge) -> None:
    """The job was neither edited nor started since it was asked for: the price is one of these
    settings, and nobody consented to a second run.

    What lies ahead of now was noted before the clock was put back, and so before it was asked for.
    """
    if charge.job_id is None:
        return
    job = Job.objects.select_for_update().get(pk=charge.job_id)
    times = filter(None, (job.edited_at, job.started_at, job.finished_at))
    now = timezone.now() + PUT_BACK
    has_changed = any(charge.created_at < at <= now for at in times)
    if charge.operation in STARTS_RENDERING and has_changed:
        raise Stale("This video changed since it was asked for. Nothing was sent. Ask again.")


def check_upstream(account: Account) -> None:
    """Raise `NotReady` for an account of another upstream than the one in use."""
    if account.pause_reason:
        raise NotReady(f"Not sent. {account.pause_reason} Nothing was charged.")


def check_fits(account: Account, hold: Decimal) -> None:
    held, held_by_others = account.holds()
    if hold > (free := account.balance - held):
        raise NotEnoughCredits(hold, free, held_by_others)


def write(intent: Intent, account: Account, job: Job | None, state: ChargeState) -> Charge:
    now = timezone.now()
    charge = Charge.objects.create(
        vault_id=intent.vault_id,
        account=account,
        # The locked job's: another token may have taken over since the page was drawn.
        token_id=job.token_id if job else intent.token.pk,  # type: ignore[union-attr]
        member_id=intent.member_id,
        job=job,
        operation=intent.operation,
        path=intent.path,
        body=intent.body,
        nonce=intent.nonce,
        state=state,
        quote=intent.quote,
        hold=intent.hold,
        held_at=now if state == ChargeState.HELD else None,
        due_at=now + SWEEP_AFTER,
    )
    for upload in intent.uploads:
        upload.charge = charge
        upload.save(force_insert=True)
    publish(charge.vault_id, Event.CHARGE, charge.pk)
    failpoints.reach("intent")
    return charge
