"""A charge: the intent row of one charging operation, written before anything is sent (rule 2).

    draft → held → sending → confirmed
                           → refused
                           → unknown → matched | refused | written_off
                                     → held, after a 429 without evidence that it was carried out
                           → held, when no connection was made
    refused → matched, when its debit came although it was refused or called uncharged
    matched → unknown, when a person takes its match with a debit back

What was not sent yet may be refused, too (`TRANSITIONS`), and is `unknown` where a restored
database has forgotten whether it was sent (`charges/recovery.py`).
`held` rows have passed the balance check and reserve `hold`; a worker claims one by a conditional
update to `sending` and sends it once. `unknown` means the answer got lost: it is settled by
reading, never by sending again.
"""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from proxyapi import upstream_address
from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account
from proxyapi.models.api_event import record_charge_event
from proxyapi.models.api_key import ApiKey
from proxyapi.models.job import Job
from proxyapi.models.tenant import Tenant
from proxyapi.models.token import Token
from proxyapi.operations import (
    JOB_STARTING_OPERATIONS,
    REFUNDABLE_OPERATIONS,
    ExecutionEvidence,
    get_operation,
)


class ChargeState(models.TextChoices):
    DRAFT = "draft"
    HELD = "held"
    SENDING = "sending"
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    MATCHED = "matched"
    WRITTEN_OFF = "written_off", "written off"


CHARGE_TRANSITIONS: dict[ChargeState, frozenset[ChargeState]] = {
    ChargeState.DRAFT: frozenset({ChargeState.HELD, ChargeState.REFUSED}),
    # To unknown only after the database was restored: it may have been sent since.
    ChargeState.HELD: frozenset({ChargeState.SENDING, ChargeState.REFUSED, ChargeState.UNKNOWN}),
    # Back to held only when no connection was made.
    ChargeState.SENDING: frozenset(
        {ChargeState.CONFIRMED, ChargeState.REFUSED, ChargeState.UNKNOWN, ChargeState.HELD}
    ),
    ChargeState.UNKNOWN: frozenset(
        {ChargeState.MATCHED, ChargeState.REFUSED, ChargeState.WRITTEN_OFF, ChargeState.HELD}
    ),
    ChargeState.CONFIRMED: frozenset(),
    # Only a charge that was sent, and has a debit all the same.
    ChargeState.REFUSED: frozenset({ChargeState.MATCHED}),
    ChargeState.MATCHED: frozenset({ChargeState.UNKNOWN}),
    ChargeState.WRITTEN_OFF: frozenset(),
}
IN_PROGRESS_STATES = (ChargeState.HELD, ChargeState.SENDING)
HOLDING_STATES = (*IN_PROGRESS_STATES, ChargeState.UNKNOWN)
UNDECIDED_STATES = (ChargeState.SENDING, ChargeState.UNKNOWN)  # sent, outcome not known
CHARGED_STATES = (ChargeState.CONFIRMED, ChargeState.MATCHED)
NEVER_CHARGED_CODE = "NEVER-CHARGED"  # `code` of a charge without evidence, assumed uncharged
CHARGED_LATE_CODE = "CHARGED-LATE"  # `code` of one assumed uncharged that cost credits after all
MATCH_REMOVED_CODE = "MATCH-TAKEN-BACK"  # `code` of an unknown one that only a person settles
CHECKED_BEFORE_RETRY_CODE = "checked-before-retry"  # in lower case, as no code of an answer is
EARLIEST_TIME = datetime(2000, 1, 1, tzinfo=UTC)
MAX_CHARGE_CRASHES = 5  # failures in a row
MAX_CLOCK_SKEW = timedelta(seconds=6)  # five, plus one for the ledger's whole seconds
MAX_BOOKING_DELAY = timedelta(hours=1)  # from the sending to the booking; generous


class ChargeQuerySet(models.QuerySet["Charge"]):
    def get_with_relations(self, pk: uuid.UUID) -> Charge:
        """Return a charge with job, draft, token, account, tenant. Raises `Charge.DoesNotExist`."""
        charge = self.select_related("job__draft", "token", "account", "tenant").get(pk=pk)
        if charge.token.account_id == charge.account_id:
            charge.token.account = charge.account  # one row, read once
        return charge

    def of_upstream_account(self, account_id: uuid.UUID) -> Self:
        """Charges of the same upstream account, of every team that uses it."""
        return self.filter(account__in=Account.objects.same_upstream_account(account_id))

    def holding(self) -> Self:
        return self.filter(state__in=HOLDING_STATES)

    def open(self) -> Self:
        return self.filter(state__in=(*HOLDING_STATES, ChargeState.DRAFT))

    def starting_jobs(self) -> Self:
        return self.open().filter(operation__in=JOB_STARTING_OPERATIONS)

    def without_debit(self) -> Self:
        """Charges that took credits and are not matched with a ledger entry."""
        # Few charges are not booked; this index is used for their times alone.
        few = self.filter(booked_at__isnull=True, sent_at__gt=EARLIEST_TIME)
        return few.filter(state__in=CHARGED_STATES, cost__gt=0).exclude(entries__amount__lt=0)

    def missing_from_balance(self, since: datetime) -> Self:
        """Charges that took credits which a balance read at that time may not include.

        It includes what was answered, or booked by the ledger's clock, earlier, and the charge
        whose own answer contained the balance, which refers to the time of its sending.
        """
        booked = Q(booked_at__isnull=True) | Q(booked_at__gt=since - MAX_CLOCK_SKEW)
        lately = self.filter(
            sent_at__gt=since - MAX_BOOKING_DELAY, settled_at__gt=since, state__in=CHARGED_STATES
        )
        return lately.filter(booked).exclude(sent_at=since)

    def refused_after_sending(self) -> Self:
        """Charges whose request reached the service, and which count as not charged."""
        return self.filter(state=ChargeState.REFUSED, sent_at__isnull=False)

    def later_repeats(self, charge: Charge) -> Self:
        """The same operation sent again later, if it took credits or may have."""
        same = self.filter(account=charge.account_id, operation=charge.operation, job=charge.job_id)
        if charge.job_id is None:
            same = same.filter(path=charge.path, body=charge.body)
        return same.filter(
            sent_at__gt=charge.sent_at, state__in=(*CHARGED_STATES, *UNDECIDED_STATES)
        )

    def due(self, now: datetime) -> Self:
        """Charges that need a worker now: unsent, abandoned and unknown ones whose time has come.
        Unknown charges of another upstream wait until its address is configured again."""
        due = self.holding().filter(due_at__lte=now, failures__lt=MAX_CHARGE_CRASHES)
        readable = ~Q(state=ChargeState.UNKNOWN) | upstream_address.current_upstream_filter(
            "account__environment"
        )
        return due.filter(readable).order_by("due_at")

    def with_refund_owed(self) -> Self:
        """Charges whose refund the ledger does not show yet."""
        return self.filter(refund_owed_at__isnull=False, refunded_at__isnull=True)

    def mark_refund_owed(self, job: Job, now: datetime) -> None:
        """The job failed: mark its last paid attempt as owed back, where the service refunds it.

        A charge whose resource is unidentified is not the one that failed.
        """
        last = self.filter(
            job=job, operation__in=REFUNDABLE_OPERATIONS, state__in=CHARGED_STATES, cost__gt=0
        )
        last = last.filter(unidentified_at__isnull=True)
        charge = last.order_by("-sent_at").first()
        if charge is not None:
            self.filter(pk=charge.pk, refund_owed_at=None).update(refund_owed_at=now)

    def transition(self, charge: Charge, to: ChargeState, **fields: object) -> bool:
        """Make one transition by conditional update, with its event; return False if another
        process was faster."""
        if to not in CHARGE_TRANSITIONS[before := ChargeState(charge.state)]:
            raise ValueError(f"a charge does not go from {charge.state} to {to}")
        with transaction.atomic(savepoint=False):
            moved = self.filter(pk=charge.pk, state=charge.state).update(state=to, **fields)
            if moved:
                charge.reload()
                record_charge_event(charge, before)
        return bool(moved)


class Charge(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="charges")
    account = models.ForeignKey(Account, models.PROTECT, related_name="charges")
    token = models.ForeignKey(Token, models.PROTECT, related_name="charges")
    member = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="charges")
    job = models.ForeignKey(Job, models.PROTECT, related_name="charges", null=True, blank=True)
    api_key = models.ForeignKey(
        ApiKey, models.PROTECT, related_name="charges", null=True, blank=True, db_index=False
    )  # of the script that made it
    operation = models.CharField(max_length=60, help_text="Name in the operations table.")
    path = models.JSONField(
        default=dict, blank=True, help_text="Path parameters other than the job's id."
    )
    body = models.JSONField(
        default=dict, blank=True, help_text="Request body; never contains a token."
    )
    nonce = models.UUIDField()  # of the form: submitting it twice creates one charge
    state = models.CharField(max_length=11, choices=ChargeState, default=ChargeState.DRAFT)
    quote = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Price shown before sending."
    )
    hold = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, default=0, help_text="Reserved credits, an upper bound."
    )
    cost = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, null=True, blank=True, help_text="Credits that were charged."
    )
    cost_from_debit = models.BooleanField(
        default=False, help_text="Whether only the debit that settled it shows the cost."
    )
    before = models.JSONField(default=dict, blank=True, help_text="Evidence read before sending.")
    attempts = models.PositiveSmallIntegerField(default=0)
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    code = models.CharField(max_length=60, blank=True)
    reason = models.TextField(
        blank=True, help_text="Why it was refused or is unknown; shown to users."
    )
    created_at = models.DateTimeField(default=timezone.now, db_index=True)
    due_at = models.DateTimeField(default=timezone.now)
    held_at = models.DateTimeField(
        null=True, blank=True, help_text="When its credits were reserved; null for a draft."
    )
    # Last sending; null if no request reached the service. The first, if it was sent again since.
    sent_at = models.DateTimeField(null=True, blank=True)
    first_sent_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(
        null=True, blank=True, help_text="Last heartbeat of the worker that waits for the answer."
    )
    lost_at = models.DateTimeField(
        null=True, blank=True, help_text="When the portal stopped waiting for the answer."
    )
    applied_at = models.DateTimeField(
        null=True, blank=True, help_text="When its result was applied to the job, once."
    )
    booked_at = models.DateTimeField(
        null=True, blank=True, help_text="Ledger time of the matched debit."
    )
    settled_at = models.DateTimeField(null=True, blank=True)
    result = models.JSONField(
        null=True, blank=True, help_text="Data of the answer that cannot be read again."
    )
    unidentified_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When the ledger proved it although its id was never received.",
    )
    refund_owed_at = models.DateTimeField(
        null=True, blank=True, help_text="When a refund became due."
    )
    refunded_at = models.DateTimeField(
        null=True, blank=True, help_text="Ledger time of the refund."
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    failures = models.PositiveSmallIntegerField(
        default=0, help_text="Consecutive exceptions; quarantined after five."
    )

    objects = ChargeQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "nonce"], name="charge_once_per_nonce"),
            models.CheckConstraint(
                condition=Q(state__in=ChargeState.values), name="charge_state_known"
            ),
            models.CheckConstraint(condition=Q(hold__gte=0), name="charge_hold_not_negative"),
            models.CheckConstraint(
                condition=~Q(state__in=["confirmed", "matched"]) | Q(cost__isnull=False),
                name="charge_spent_has_cost",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["sending", "confirmed", "unknown", "matched"])
                | Q(sent_at__isnull=False),
                name="charge_sent_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(state="written_off") | Q(decided_by__isnull=False),
                name="charge_written_off_by_a_person",
            ),
            # One open charge for each job, operation and part: a second tab cannot start a second
            # render.
            models.UniqueConstraint(
                fields=["job", "operation", "path"],
                condition=Q(
                    state__in=["draft", "held", "sending", "unknown"], applied_at__isnull=True
                ),
                name="charge_one_open_per_job_operation",
            ),
        ]
        indexes = [
            models.Index(fields=["account", "state"]),
            models.Index(fields=["tenant", "state"], name="charge_by_state"),
            models.Index(fields=["tenant", "member", "created_at"], name="charge_of_member"),
            # Covers all columns of a budget's sum: the table itself is not read.
            models.Index(
                fields=["tenant", "created_at", "member", "state", "hold", "cost", "refunded_at"],
                condition=Q(refunded_at__isnull=True),
                name="charge_counts",
            ),
            models.Index(fields=["account", "sent_at"], name="charge_sent"),
            # Covers all columns of a month's costs.
            models.Index(
                fields=[
                    *("account", "sent_at", "operation", "state", "quote", "cost", "job"),
                    "refunded_at",
                ],
                condition=Q(refunded_at__isnull=True, cost__isnull=False),
                name="charge_paid",
            ),
            models.Index(
                fields=["account", "sent_at"],
                condition=Q(booked_at__isnull=True),
                name="charge_not_booked",
            ),
            models.Index(
                fields=["due_at"],
                condition=Q(state__in=["held", "sending", "unknown"]),
                name="charge_due",
            ),
            models.Index(
                fields=["tenant", "refund_owed_at"],
                condition=Q(refund_owed_at__isnull=False, refunded_at__isnull=True),
                name="charge_refund_owed",
            ),
            models.Index(
                fields=["job"],
                condition=Q(refund_owed_at__isnull=False),
                name="charge_owed_of_job",
            ),
            models.Index(
                fields=["tenant", "unidentified_at"],
                condition=Q(unidentified_at__isnull=False),
                name="charge_unidentified",
            ),
            models.Index(
                fields=["api_key", "created_at"],
                condition=Q(api_key__isnull=False),
                name="charge_of_key",
            ),
            models.Index(
                fields=["tenant", "created_at"],
                condition=Q(job__isnull=True),
                name="charge_without_job",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.state}"

    def reload(self) -> None:
        """Read the row again. Loaded account and token objects are kept if they are the same."""
        loaded = self._state.fields_cache
        account, token = loaded.get("account"), loaded.get("token")
        self.refresh_from_db()
        if account is not None and account.pk == self.account_id:
            self.account = account
        if token is not None and token.pk == self.token_id:
            self.token = token

    @property
    def is_open(self) -> bool:
        return self.state in (*HOLDING_STATES, ChargeState.DRAFT)

    @property
    def may_be_charged_late(self) -> bool:
        """Whether it counts as not charged although its request reached the service."""
        return self.state == ChargeState.REFUSED and self.sent_at is not None

    @property
    def is_checked_before_retry(self) -> bool:
        """Whether it is sent again once it is known that the first attempt was not charged."""
        return self.state == ChargeState.UNKNOWN and self.code == CHECKED_BEFORE_RETRY_CODE

    @property
    def is_assumed_uncharged(self) -> bool:
        return self.state == ChargeState.REFUSED and self.code == NEVER_CHARGED_CODE

    @property
    def is_charged(self) -> bool:
        return self.state in CHARGED_STATES

    @property
    def price(self) -> Decimal:
        """The price that was shown, or the hold if none was."""
        return self.quote if self.quote is not None else self.hold

    def can_cost(self, amount: Decimal) -> bool:
        """Whether this amount is possible, within the margin that was held on top of the price."""
        return abs(amount - self.price) <= max(self.hold - self.price, Decimal(0))

    @property
    def is_proved_by_debit(self) -> bool:
        """Whether a debit of its price alone proves it, as determined just before it was sent."""
        by_kind = get_operation(self.operation).evidence is ExecutionEvidence.LEDGER
        return bool(self.before.get("by_ledger", by_kind))

    @property
    def is_proven_executed(self) -> bool:
        """Whether it is known to have been carried out, even if its cost is not known."""
        return self.applied_at is not None or self.unidentified_at is not None
