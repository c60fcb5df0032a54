"""The one way to create a charge: it is written together with its hold before anything is sent.

A charge that needs an approval is written as a draft without a hold, and then approved or
withdrawn.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from proxyapi import failpoints, pricing
from proxyapi.charges import transitions
from proxyapi.charges.charge_stop import check_charges_allowed
from proxyapi.events import EventType, publish_event
from proxyapi.models import (
    Account,
    ApiKey,
    Charge,
    ChargeState,
    Draft,
    Job,
    JobKind,
    PageRead,
    Token,
    Upload,
    lock_draft,
)
from proxyapi.models.charge import HOLDING_STATES
from proxyapi.operations import (
    JOB_STARTING_OPERATIONS,
    PART_OPERATIONS,
    get_operation,
)
from proxyapi.polling.clock_rollback import MAX_CLOCK_ROLLBACK
from proxyapi.refusals import (
    AlreadyInProgress,
    LimitExceeded,
    NotEnoughCredits,
    NotReady,
    SpendingLimit,
    StaleData,
)

# A worker is woken on commit; the sweep takes over when none answers.
SWEEP_AFTER = timedelta(seconds=10)
JOB_IN_PROGRESS = "Another request for this {noun} is already in progress. Nothing was sent twice."
JOB_CHANGED = "This {noun} has changed. Nothing was sent. Review it first."
JOB_NOUNS: Mapping[str, str] = {JobKind.CHARACTER: "character", JobKind.CLONE: "voice"}
SAME_IN_PROGRESS = "The same request is already in progress. Nothing was sent twice."
PAGE_BEING_READ = (
    "The page is being read. Nothing was sent. Render when its images are here, or stop the "
    "reading."
)
PAGE_STILL_READ = (
    "The reading was stopped, but the service may still replace the images. Nothing was sent. "
    "Render when it has answered, in {seconds} s at the latest."
)
NO_APPROVAL_NEEDED = "It now fits the budget. Nothing was sent. Confirm again."


@dataclass(frozen=True, slots=True)
class ChargeIntent:
    """What a person decided: one charging operation at the price they saw, in credits.

    It concerns a job, or a token if the operation has no job (a search for ideas). `path` holds
    path parameters other than the job's id; `uploads` are rows that are not saved yet.
    """

    job: Job | None
    operation: str
    nonce: UUID
    hold: Decimal
    quote: Decimal | None = None
    body: dict[str, Any] = field(default_factory=dict)
    token: Token | None = None
    path: dict[str, str] = field(default_factory=dict)
    uploads: tuple[Upload, ...] = ()
    beyond_balance: bool = False  # extra credits may pay it: the service decides
    api_key: ApiKey | None = None  # of the script that asks for it

    @property
    def tenant_id(self) -> UUID:
        return self.target.tenant_id

    @property
    def account_id(self) -> UUID:
        return self.target.account_id

    @property
    def target(self) -> Job | Token:
        """The job or token that determines the account and token of the charge."""
        target = self.job or self.token
        if target is None:
            raise ValueError("an intent needs a job or a token")
        return target


class Admission(NamedTuple):
    """The charge of an intent; `is_new` is False if the same form created it earlier."""

    charge: Charge
    is_new: bool


@transaction.atomic
def admit(
    intent: ChargeIntent,
    payer: int,
    limits: Collection[SpendingLimit] = (),
    *,
    needs_approval: bool = False,
) -> Admission:
    """Write the charge and reserve its hold, or return the charge that this form created earlier.

    `payer` is the id of the user who pays. `limits` are what the caller's budgets leave, read under
    the caller's locks, which are taken before the account's. With `needs_approval` the charge is
    written as a draft, which holds nothing until `approve_draft_charge`.

    The account stays locked until the transaction ends, so two members, or two teams, cannot both
    spend the last credit. Raises `ChargesStopped`, `LimitExceeded` if a limit is exceeded,
    `StaleData` if the job changed or a draft needs no approval, `AlreadyInProgress` if something is
    in progress on the job, `NotReady` if the account belongs to another upstream or a page is being
    read for the job, and `NotEnoughCredits` if the hold does not fit (for a draft this is checked
    at its approval).
    """
    if not get_operation(intent.operation).charging:
        raise ValueError(f"{intent.operation} charges nothing")
    account = Account.objects.get_locked(intent.account_id)
    if existing := find_charge_of_intent(intent):
        return Admission(existing, is_new=False)
    check_charges_allowed(intent.tenant_id)
    check_limits(limits, intent.hold, needs_approval)
    check_account_upstream(account)
    job = check_none_in_progress(intent)
    if needs_approval:
        return Admission(insert_charge(intent, payer, job, ChargeState.DRAFT), is_new=True)
    check_hold_fits(account, intent.hold, beyond_balance=intent.beyond_balance)
    return Admission(insert_charge(intent, payer, job, ChargeState.HELD), is_new=True)


@transaction.atomic
def approve_draft_charge(
    charge: Charge, price: Decimal | None = None, *, beyond_balance: bool = False
) -> Charge:
    """Approve a draft: reserve its hold so that it can be sent. Approving twice has no further
    effect.

    The charge counts from the approval on, so a budget counts it in the period of the approval.
    `price` is the current price in credits if it is below the requested one; with `beyond_balance`
    extra credits may pay it, as the service decides. Raises
    `NotEnoughCredits`, `NotReady` if the account belongs to another upstream, and `StaleData` if
    the draft was withdrawn or its video changed.
    """
    account = Account.objects.get_locked(charge.account_id)
    charge.refresh_from_db()
    if charge.state in HOLDING_STATES:
        return charge
    if charge.state != ChargeState.DRAFT:
        raise StaleData("This request is already decided. Nothing was sent.")
    check_charges_allowed(charge.tenant_id)
    check_account_upstream(account)
    check_unchanged_since_request(charge)
    if price is not None:
        charge.quote, charge.hold = price, pricing.hold_for_operation(charge.operation, price)
    check_hold_fits(account, charge.hold, beyond_balance=beyond_balance)
    now = timezone.now()
    moved = {"created_at": now, "held_at": now, "due_at": now + SWEEP_AFTER, "reason": ""}
    priced = {"quote": charge.quote, "hold": charge.hold}
    Charge.objects.transition(charge, ChargeState.HELD, **moved, **priced)
    publish_event(charge.tenant_id, EventType.CHARGE, charge.pk)
    return charge


@transaction.atomic
def withdraw_draft_charge(charge: Charge, sentence: str) -> Charge:
    """End a draft that was not approved and keep `sentence` as the reason. Nothing was sent.

    Raises `StaleData` if it was approved meanwhile.
    """
    Account.objects.lock_upstream_account(charge.account_id)
    charge.refresh_from_db()
    if charge.state == ChargeState.REFUSED:
        return charge
    if charge.state != ChargeState.DRAFT:
        raise StaleData("This was already approved. It is being sent.")
    Charge.objects.transition(
        charge, ChargeState.REFUSED, reason=sentence, settled_at=timezone.now()
    )
    charge.uploads.all().delete()
    publish_event(charge.tenant_id, EventType.CHARGE, charge.pk)
    return charge


@transaction.atomic
def cancel_held_charge(charge: Charge, sentence: str) -> bool:
    """End a held charge, which was provably not sent, and release its credits. Return False if a
    worker claimed it meanwhile; its answer then settles it."""
    Account.objects.lock_upstream_account(charge.account_id)
    charge.reload()
    if charge.state != ChargeState.HELD:
        return False
    transitions.release_hold(charge, sentence, None)
    return True


def cancel_held_charges(tenant_id: UUID, sentence: str) -> int:
    """End all held charges of a tenant, each in its own transaction; return how many.

    A charge that is being admitted under the lock of its account is seen, because the account is
    locked before its charges are read.
    """
    cancelled = 0
    for account_id in Account.objects.filter(tenant=tenant_id).values_list("pk", flat=True):
        with transaction.atomic():
            Account.objects.lock_upstream_account(account_id)
            held = Charge.objects.filter(account=account_id, state=ChargeState.HELD)
            charges = list(held.order_by("pk"))
        cancelled += sum(cancel_held_charge(charge, sentence) for charge in charges)
    return cancelled


def find_submitted_charge(
    target: Job | Token,
    operation: str,
    nonce: UUID,
    body: Mapping[str, object],
    path: Mapping[str, str] | None = None,
) -> Charge | None:
    """Return the charge that this form already created, for callers that check the form before
    `admit`. `target` is the job, or the token of an operation without one.

    Raises `AlreadyInProgress` if the nonce was used for another operation.
    """
    job_id = target.pk if isinstance(target, Job) else None
    return find_charge_by_nonce(target.tenant_id, nonce, (job_id, operation, path or {}, body))


def find_charge_of_intent(intent: ChargeIntent) -> Charge | None:
    job_id = intent.job.pk if intent.job else None
    content = (job_id, intent.operation, intent.path, intent.body)
    return find_charge_by_nonce(intent.tenant_id, intent.nonce, content)


def find_charge_by_nonce(
    tenant_id: UUID, nonce: UUID, content: tuple[object, ...]
) -> Charge | None:
    """`content` is the job's id, the operation, the path parameters and the body."""
    charge = Charge.objects.filter(tenant_id=tenant_id, nonce=nonce).first()
    if charge is None:
        return None
    if (charge.job_id, charge.operation, charge.path, charge.body) != content:
        raise AlreadyInProgress("This form was already used for something else. Nothing was sent.")
    return charge


def check_limits(limits: Collection[SpendingLimit], hold: Decimal, needs_approval: bool) -> None:
    """Raise `LimitExceeded` with the most constrained limit that the hold does not fit; for a
    draft, raise `StaleData` where it fits all of them."""
    exceeded = [limit for limit in limits if hold and hold > limit.remaining]
    if needs_approval and not exceeded:
        raise StaleData(NO_APPROVAL_NEEDED)
    if exceeded and not needs_approval:
        raise LimitExceeded(min(exceeded, key=lambda limit: (limit.remaining, limit.key)))


def check_none_in_progress(intent: ChargeIntent) -> Job | None:
    """Raise `AlreadyInProgress` or `StaleData` if the job is busy or changed; return the job,
    locked."""
    if intent.job is None:
        same = Charge.objects.open().filter(account_id=intent.account_id, job=None)
        if same.filter(operation=intent.operation, path=intent.path, body=intent.body).exists():
            raise AlreadyInProgress(SAME_IN_PROGRESS)
        return None
    job = Job.objects.select_for_update().get(pk=intent.job.pk)
    check_job_unchanged(job, intent)
    if intent.operation in JOB_STARTING_OPERATIONS:
        check_images_final(job)
    # What was carried out, and of which only the cost is unknown, delays no other one.
    in_progress = job.charges.open().filter(applied_at=None)
    if get_operation(intent.operation).changes_part:
        is_same = Q(operation=intent.operation, path=intent.path)
        in_progress = in_progress.filter(~Q(operation__in=PART_OPERATIONS) | is_same)
    if in_progress.exists():
        raise AlreadyInProgress(JOB_IN_PROGRESS.format(noun=JOB_NOUNS.get(job.kind, "video")))
    return job


def check_job_unchanged(job: Job, intent: ChargeIntent) -> None:
    """Raise `StaleData` if the settings differ from the priced ones, or the job was started
    meanwhile, even if it has failed again since."""
    displayed, priced = intent.job or job, intent.operation in JOB_STARTING_OPERATIONS
    is_unchanged = (edited_at(lock_draft(job)), job.finished_at) == (
        edited_at(displayed.draft_or_none),
        displayed.finished_at,
    )
    if job.state != displayed.state or (priced and not is_unchanged):
        raise StaleData(JOB_CHANGED.format(noun=JOB_NOUNS.get(job.kind, "video")))


def check_images_final(job: Job) -> None:
    """Raise `NotReady` while a page is read for the locked job: the service replaces its images."""
    now = timezone.now()
    row = PageRead.objects.in_progress(now).filter(job=job).first()
    if row is None:
        return
    if row.is_active or row.answer_due_at is None:
        raise NotReady(PAGE_BEING_READ)
    left = (row.answer_due_at - now).total_seconds()
    raise NotReady(PAGE_STILL_READ.format(seconds=math.ceil(left)))


def edited_at(draft: Draft | None) -> datetime | None:
    return draft.edited_at if draft else None


def check_unchanged_since_request(charge: Charge) -> None:
    """Raise `StaleData` if the job was edited or started after the approval was requested.

    A time in the future was recorded before the clock was set back, so it precedes the request.
    """
    if charge.job_id is None:
        return
    job = Job.objects.select_for_update().get(pk=charge.job_id)
    times = filter(None, (edited_at(lock_draft(job)), job.started_at, job.finished_at))
    now = timezone.now() + MAX_CLOCK_ROLLBACK
    has_changed = any(charge.created_at < at <= now for at in times)
    if charge.operation in JOB_STARTING_OPERATIONS and has_changed:
        raise StaleData("This video changed since the request. Nothing was sent. Request it again.")


def check_account_upstream(account: Account) -> None:
    """Raise `NotReady` for an account of another upstream than the one in use."""
    if account.pause_reason:
        raise NotReady(f"Not sent. {account.pause_reason} Nothing was charged.")


def check_hold_fits(account: Account, hold: Decimal, *, beyond_balance: bool = False) -> None:
    """Raise `NotEnoughCredits`; with `beyond_balance` only if extra credits could not pay it
    either."""
    held, held_by_others = account.held_by_all_and_others()
    check = account.check_credits(hold, account.balance - held)
    if not (check.fits or (beyond_balance and check.is_beyond_balance)):
        raise NotEnoughCredits(check, held_by_others)


def insert_charge(intent: ChargeIntent, payer: int, job: Job | None, state: ChargeState) -> Charge:
    now = timezone.now()
    charge = Charge.objects.create(
        tenant_id=intent.tenant_id,
        account_id=intent.account_id,
        # The locked job's token: another one may have taken over since the page was rendered.
        token_id=job.token_id if job else intent.token.pk,  # type: ignore[union-attr]
        member_id=payer,
        api_key=intent.api_key,
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
        # An intent may be admitted again after its transaction, or the database, was rolled back.
        upload.pk, upload.charge = None, charge
        upload.save(force_insert=True)
    publish_event(charge.tenant_id, EventType.CHARGE, charge.pk)
    failpoints.hit_failpoint("intent")
    return charge
