"""One upstream account as one tenant sees it: profile, plan and balance (spec, Account).

Teams with tokens of the same upstream account have one row each. Its credits exist only once: what
one team holds is not available to another, and all the rows are locked together.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.db.models import Exists, F, OuterRef, Q, Subquery, Sum

from proxyapi import upstream_address
from proxyapi.models.credit_price import CreditPrice
from proxyapi.models.tenant import Tenant
from proxyapi.refusals import CreditCheck
from proxyapi.upstream import response_parsing

if TYPE_CHECKING:
    from proxyapi.models.charge import Charge, ChargeQuerySet

CREDIT_FIELD_OPTIONS: dict[str, Any] = {"max_digits": 14, "decimal_places": 4}
CREDIT_QUANTUM = Decimal("0.0001")
PROFILE_REFRESH_AFTER, IDLE_PROFILE_REFRESH_AFTER = timedelta(minutes=10), timedelta(minutes=30)
LAPSED_PLAN_REFRESH_AFTER = timedelta(minutes=2)
INCOMPLETE_REFRESH_AFTER = timedelta(seconds=50)  # at the next round

MIN_BALANCE_MARGIN = Decimal(50)  # credits by which others may have changed a balance

PAUSED_ACCOUNT_TEXT = (
    "This account belongs to another address of the service, {address}. It is paused until the "
    "portal uses that address again."
)

# A time outside these years is a mistake or means "never ends", and breaks calendars.
PLAUSIBLE_YEARS = range(2000, 2200)

PROFILE_FIELDS = (
    "name",
    "email",
    "email_verified",
    "plan",
    "plan_name",
    "plan_ends_at",
    "monthly_credits",
    "extra_credits",
)


def quantize_credits(sum_: Decimal | None) -> Decimal:
    """Round to the decimal places of credits: SQLite adds decimals as floats."""
    return (sum_ or Decimal(0)).quantize(CREDIT_QUANTUM)


def amount_text(amount: Decimal) -> str:
    """An amount for a sentence or a record, such as "2500", whatever type the database returned."""
    return f"{amount.normalize():f}"


class AccountPlan(models.TextChoices):
    PAID = "paid"
    TRIAL = "trial"
    NONE = "none", "no plan"


class AccountQuerySet(models.QuerySet["Account"]):
    def not_archived(self) -> Self:
        return self.filter(archived_at=None)

    def of_current_upstream(self) -> Self:
        """Accounts of the upstream in use; the others are paused."""
        return self.filter(upstream_address.current_upstream_filter())

    def same_upstream_account(self, pk: uuid.UUID) -> Self:
        """The rows of the same upstream account, one per team that uses it, including this one."""
        own = Account.objects.filter(pk=pk)
        return self.filter(
            environment=Subquery(own.values("environment")),
            upstream_id=Subquery(own.values("upstream_id")),
        )

    def lock_upstream_account(self, pk: uuid.UUID) -> list[uuid.UUID]:
        """Lock all rows of the same upstream account until the transaction ends and return their
        keys.

        Always before its jobs, charges and entries, and in one order, so that no deadlock can
        occur. Nothing else is read: an object loaded before the lock is not refreshed.
        """
        return list(self.in_lock_order(pk).values_list("pk", flat=True))

    def get_locked(self, pk: uuid.UUID) -> Account:
        """Lock like `lock`; answers the row as it is now. Raises `Account.DoesNotExist`."""
        for row in self.in_lock_order(pk):
            if row.pk == pk:
                return row
        raise Account.DoesNotExist

    def in_lock_order(self, pk: uuid.UUID) -> Self:
        # No key lock: a transaction that inserted a row of an account holds a shared lock on its
        # key, and may still wait for the rows before it.
        return self.same_upstream_account(pk).order_by("pk").select_for_update(no_key=True)

    def due_for_refresh(self, now: datetime) -> Self:
        """Accounts with an old profile; lapsed ones are refreshed more often so that they resume by
        themselves, idle ones less often."""
        old = Q(refreshed_at__isnull=True) | Q(refreshed_at__lt=now - IDLE_PROFILE_REFRESH_AFTER)
        old |= ~Q(ledger__is_idle=True) & Q(refreshed_at__lt=now - PROFILE_REFRESH_AFTER)
        lapsed = ~Q(plan=AccountPlan.PAID) & Q(refreshed_at__lt=now - LAPSED_PLAN_REFRESH_AFTER)
        # The last refresh was incomplete: no video can be composed before the voices are known.
        incomplete = Q(plan=AccountPlan.PAID, options_as_of=None) & Q(
            refreshed_at__lt=now - INCOMPLETE_REFRESH_AFTER
        )
        return self.filter(old | lapsed | incomplete)


def is_shared_with_another_team() -> Exists:
    """Annotates accounts with whether another team has a row of the same upstream account."""
    same = {"environment": OuterRef("environment"), "upstream_id": OuterRef("upstream_id")}
    return Exists(Account.objects.filter(**same).exclude(pk=OuterRef("pk")))


class Account(models.Model):
    """Several tokens may belong to one account: one balance, one ledger, one row."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="accounts")
    environment = models.CharField(max_length=200, help_text="Base URL of the upstream.")
    upstream_id = models.BigIntegerField()
    name = models.CharField(max_length=200, blank=True)
    email = models.CharField(max_length=254, blank=True)
    email_verified = models.BooleanField(default=False)
    plan = models.CharField(max_length=8, choices=AccountPlan, default=AccountPlan.NONE)
    plan_name = models.CharField(max_length=100, blank=True)
    plan_ends_at = models.DateTimeField(null=True, blank=True)
    monthly_credits = models.DecimalField(**CREDIT_FIELD_OPTIONS, default=Decimal(0))
    balance = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, default=Decimal(0), help_text="Credits, as of `balance_as_of`."
    )
    extra_credits = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, default=Decimal(0), help_text="`credits.extra`, as last read."
    )
    has_separate_extra = models.BooleanField(
        null=True,
        blank=True,
        help_text="Whether they can be spent beside `remaining`; null until the ledger shows it.",
    )
    balance_as_of = models.DateTimeField(null=True, blank=True)
    peak_balance = models.DecimalField(
        **CREDIT_FIELD_OPTIONS,
        null=True,
        blank=True,
        help_text="Highest balance read since a token was added for it; empty if not recorded.",
    )
    costs = models.JSONField(
        default=dict,
        blank=True,
        encoder=DjangoJSONEncoder,
        help_text="Credit cost map, as last read.",
    )
    options = models.JSONField(
        default=dict,
        blank=True,
        encoder=DjangoJSONEncoder,
        help_text="Faceless option groups, as last read.",
    )
    clip_models = models.JSONField(
        default=list,
        blank=True,
        encoder=DjangoJSONEncoder,
        help_text="Text-to-video models, as last read; empty until they were read.",
    )
    options_as_of = models.DateTimeField(null=True, blank=True)
    withdrawn_voice_ids = models.JSONField(
        default=list,
        blank=True,
        help_text="Cloned voices whose consent was withdrawn, as text; they are not offered.",
    )
    refreshed_at = models.DateTimeField(null=True, blank=True)
    price_per_credit = models.DecimalField(max_digits=10, decimal_places=6, null=True, blank=True)
    price_currency = models.CharField(max_length=3, blank=True, default="", db_default="")
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when lists leave it out; it has no token."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AccountQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["tenant", "environment", "upstream_id"], name="account_once_per_tenant"
            ),
            models.CheckConstraint(
                condition=Q(plan__in=AccountPlan.values), name="account_plan_known"
            ),
            models.CheckConstraint(
                # Without `isnull`, "null > 0" is null, which a constraint lets pass.
                condition=Q(price_per_credit=None, price_currency="")
                | Q(price_per_credit__isnull=False, price_per_credit__gt=0) & ~Q(price_currency=""),
                name="account_price_with_currency",
            ),
        ]
        indexes = [models.Index(fields=["environment", "upstream_id"], name="account_upstream")]

    def __str__(self) -> str:
        return f"account {self.upstream_id} ({self.email})"

    @property
    def label(self) -> str:
        """The name that people know it by."""
        return self.name or self.email or f"Account {self.upstream_id}"

    @property
    def bucket(self) -> str:
        """Key of the limits that the service counts per account, across all teams (rule 5)."""
        return f"{self.environment}:{self.upstream_id}"

    @property
    def is_of_current_upstream(self) -> bool:
        """Whether its tokens may be sent to the upstream in use; otherwise the account is
        paused."""
        return upstream_address.is_current_upstream(self.environment)

    @property
    def pause_reason(self) -> str:
        """Why the account is paused, for people; empty if it is not."""
        text = PAUSED_ACCOUNT_TEXT.format(address=self.environment)
        return "" if self.is_of_current_upstream else text

    @property
    def credit_price(self) -> CreditPrice | None:
        amount = self.price_per_credit
        return None if amount is None else CreditPrice(amount, self.price_currency)

    @property
    def had_plan(self) -> bool:
        """Whether a plan of it was ever read: the service names none of an account without one."""
        return bool(self.plan_name or self.plan_ends_at)

    @property
    def spending_obstacle(self) -> str:
        """Why its credits cannot be spent, "" if they can; of `annotate_spending_obstacle`."""
        obstacle: str = self.obstacle  # type: ignore[attr-defined]
        return obstacle

    @property
    def spends_extra(self) -> bool:
        """Whether `credits.extra` is spent beside `remaining`: as learned, or as configured."""
        learned = self.has_separate_extra
        return settings.EXTRA_CREDITS == "beside" if learned is None else learned

    @property
    def unlearned_extra(self) -> Decimal:
        """Extra credits that are not counted here, although the service may let them be spent."""
        is_known = self.has_separate_extra is not None or self.spends_extra
        return Decimal(0) if is_known else self.extra_credits

    def learn_refused_extra(self, hold: Decimal) -> None:
        """The service refused a charge with this hold for lack of credits: one that extra credits
        would have paid shows that they cannot be spent."""
        self.refresh_from_db(fields=["balance", "extra_credits", "has_separate_extra"])
        available = self.available_balance() + hold  # the charge still holds it
        if self.check_credits(hold, available).is_beyond_balance:
            rows = Account.objects.same_upstream_account(self.pk)
            rows.filter(has_separate_extra=None).update(has_separate_extra=False)

    def spendable_credits(self, credits: Mapping[str, Any]) -> Decimal | None:
        """The credits of a profile that can be spent; None if it does not say."""
        remaining = response_parsing.parse_credit_amount(credits.get("remaining"))
        extra = response_parsing.parse_credit_amount(credits.get("extra")) or Decimal(0)
        return None if remaining is None else remaining + (extra if self.spends_extra else 0)

    def charges_of_all_teams(self) -> ChargeQuerySet:
        """Charges of the upstream account, of every team that uses it."""
        return self.charges.model.objects.of_upstream_account(self.pk)

    def held_by_all_and_others(self) -> tuple[Decimal, Decimal]:
        """Credits held by open charges: of all teams, and of the other teams."""
        by_others = ~Q(account_id=self.pk)
        sums = (
            self.charges_of_all_teams()
            .holding()
            .aggregate(all=Sum("hold"), others=Sum("hold", filter=by_others))
        )
        return quantize_credits(sums["all"]), quantize_credits(sums["others"])

    def held_credits(self) -> Decimal:
        """Credits held by open charges of all teams."""
        return self.held_by_all_and_others()[0]

    def available_balance(self) -> Decimal:
        return self.balance - self.held_credits()

    def check_credits(self, hold: Decimal, available: Decimal | None = None) -> CreditCheck:
        """Compare a hold with what is available: as it was read before, else as it is now."""
        available = self.available_balance() if available is None else available
        return CreditCheck(hold, available, self.unlearned_extra)

    def update_reported_balance(self, remaining: Decimal, seen_at: datetime) -> None:
        """Take a balance that is mentioned beside an answer; of one far from what is known and held
        only take that the profile is to be read now. An answer names one purse alone."""
        if self.spends_extra and self.extra_credits:
            return
        self.refresh_from_db(fields=["balance", "balance_as_of"])
        margin = max(MIN_BALANCE_MARGIN, self.balance / 10)
        is_near = self.balance - self.held_credits() - margin <= remaining <= self.balance + margin
        if self.balance_as_of is None or is_near:
            self.update_balance(remaining, seen_at)
        else:
            Account.objects.filter(pk=self.pk).update(refreshed_at=None)

    @transaction.atomic
    def update_balance(self, remaining: Decimal, seen_at: datetime) -> None:
        """Store a newer balance; a late answer never overwrites a newer one (pitfall 53).

        `seen_at` is when it was requested; it was read some time later. What may have been booked
        after that is subtracted, so until the next read the balance is rather too low than too
        high. It also applies to the rows of other teams that use the upstream account.
        """
        Account.objects.lock_upstream_account(self.pk)
        unseen = self.charges_of_all_teams().missing_from_balance(seen_at)
        spent = quantize_credits(unseen.aggregate(sum=Sum("cost"))["sum"])
        older = Q(balance_as_of__isnull=True) | Q(balance_as_of__lte=seen_at)
        rows, balance = self.rows_with_usable_token().filter(older), remaining - spent
        rows.update(balance=balance, balance_as_of=seen_at)
        rows.filter(peak_balance__lt=balance).update(peak_balance=balance)
        self.refresh_from_db(fields=["balance", "balance_as_of"])

    def deduct_charge(self, charge: Charge) -> None:
        """Take a charge that was settled just now off a balance that may not know of it; in the
        caller's transaction, with the account locked."""
        for pk, as_of in self.rows_with_usable_token().values_list("pk", "balance_as_of"):
            if as_of and self.charges.missing_from_balance(as_of).filter(pk=charge.pk).exists():
                Account.objects.filter(pk=pk).update(balance=F("balance") - charge.cost)

    def rows_with_usable_token(self) -> AccountQuerySet:
        """This row, and those of other teams on the same upstream account with a usable token.

        A team whose token was revoked gets no new balance through another team.
        """
        tokens = self.tokens.model.objects.usable().filter(account=OuterRef("pk"))
        rows = Account.objects.same_upstream_account(self.pk)
        return rows.filter(Q(pk=self.pk) | Exists(tokens))

    def save_profile(self, me: Mapping[str, Any], requested_at: datetime) -> None:
        """Take what `GET /me` said. Unknown and missing fields leave what was known."""
        self.apply_profile(me)
        # Not all columns: the stored balance and costs may be newer than the loaded ones.
        self.save(update_fields=PROFILE_FIELDS)
        balance = self.spendable_credits(response_parsing.as_mapping(me.get("credits")))
        if balance is not None:
            self.update_balance(balance, requested_at)

    def apply_profile(self, me: Mapping[str, Any]) -> None:
        """Whose account it is and on what plan, as far as it can be read; nothing is stored."""
        self.name = str(me.get("name") or self.name)[:200]
        self.email = str(me.get("email") or self.email)[:254]
        if isinstance(verified := me.get("email_verified"), bool):
            self.email_verified = verified
        subscription = response_parsing.as_mapping(me.get("subscription"))
        self.plan = parse_plan(subscription, AccountPlan(self.plan))
        self.plan_name = str(subscription.get("plan") or self.plan_name)[:100]
        if "ends_at" in subscription:
            self.plan_ends_at = parse_timestamp(subscription["ends_at"])
        credits = response_parsing.as_mapping(me.get("credits"))
        extra = response_parsing.parse_credit_amount(credits.get("extra"))
        self.extra_credits = self.extra_credits if extra is None else extra
        total = response_parsing.parse_credit_amount(credits.get("total"))
        self.monthly_credits = self.monthly_credits if total is None else total


def parse_plan(
    subscription: Mapping[str, Any], known: AccountPlan = AccountPlan.NONE
) -> AccountPlan:
    """The plan in the upstream's record; `known` if it is unreadable, because an unreadable value
    stops no token (rule 6)."""
    active, trial = subscription.get("active"), subscription.get("trial")
    if active is False or subscription.get("exists") is False:
        return AccountPlan.NONE
    if active is not True:
        return known
    if isinstance(trial, bool):
        return AccountPlan.TRIAL if trial else AccountPlan.PAID
    return AccountPlan.PAID if known == AccountPlan.NONE else known


def parse_timestamp(text: object) -> datetime | None:
    """An ISO 8601 timestamp with offset, or nothing where it cannot be read."""
    try:
        parsed = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return parsed if parsed.tzinfo and parsed.year in PLAUSIBLE_YEARS else None
