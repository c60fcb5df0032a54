"""An account's automatic top-up as last read, and as we last set it (spec, Auto top-up
preference)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

from django.db import models
from django.utils import timezone

from proxyapi.models.account import Account
from proxyapi.models.credit_price import CreditPrice
from proxyapi.models.tenant import Tenant


class TopUpType(models.TextChoices):
    PACK = "extra-credits", "credit pack"
    UNITS = "dynamic-credits", "units of 100 credits"


class AutoTopUp(models.Model):
    account = models.OneToOneField(Account, models.CASCADE, primary_key=True, related_name="top_up")
    enabled = models.BooleanField(default=False)
    type = models.CharField(max_length=40, blank=True, help_text="Value from the upstream.")
    plan_id = models.BigIntegerField(null=True, blank=True)
    units = models.PositiveIntegerField(null=True, blank=True)
    enabled_at = models.DateTimeField(null=True, blank=True)
    consecutive_failures = models.PositiveSmallIntegerField(default=0)
    read_at = models.DateTimeField(null=True, blank=True)
    due_at = models.DateTimeField(default=timezone.now, help_text="Time of the next read.")
    read_error = models.TextField(blank=True, help_text="Why the last read failed.")
    left_enabled = models.BooleanField(
        null=True, blank=True, help_text="Last state set by the portal; null if never changed here."
    )
    left_at = models.DateTimeField(null=True, blank=True)
    found_off_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a read found it off although nobody switched it off here.",
    )
    failure_seen_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When a read first showed the newest failure, which happened no later.",
    )

    def __str__(self) -> str:
        return f"top-up of {self.account_id}"

    @property
    def is_disabled_elsewhere(self) -> bool:
        """Whether it was switched off, and not through the portal."""
        return self.found_off_at is not None and not self.enabled


class CreditPack(models.Model):
    """A one-time credit pack whose plan ID an owner or treasurer entered: no endpoint lists them
    (pitfall 74)."""

    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="credit_packs")
    plan_id = models.BigIntegerField()
    name = models.CharField(max_length=60)
    credits = models.PositiveIntegerField()
    price = models.DecimalField(
        max_digits=10,
        decimal_places=2,
        null=True,
        blank=True,
        help_text="Amount of money, if known.",
    )
    currency = models.CharField(max_length=3, blank=True, help_text="ISO 4217, such as EUR.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "plan_id"], name="credit_pack_once"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def credit_price(self) -> CreditPrice | None:
        """The price of one credit, rounded to six decimal places; None if it is not known."""
        if not self.price or not self.currency:
            return None
        amount = (self.price / self.credits).quantize(Decimal("0.000001"), ROUND_HALF_UP)
        return CreditPrice(amount, self.currency) if amount else None

    @property
    def price_text(self) -> str:
        return "" if self.price is None else f"{self.price:,.2f} {self.currency}".strip()
