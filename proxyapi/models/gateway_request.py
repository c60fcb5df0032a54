"""What the gateway keeps: a log of requests without bodies, answers that are given again, and the
prices that it named."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q
from django.utils import timezone

from proxyapi.models.account import CREDIT_FIELD_OPTIONS, Account
from proxyapi.models.api_key import ApiKey
from proxyapi.models.charge import Charge, ChargeQuerySet, ChargeState
from proxyapi.models.job import Job
from proxyapi.models.tenant import Tenant


class GatewayRequest(models.Model):
    """One request of a script, without its body and without its key."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+")
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="requests")
    operation = models.CharField(max_length=60, help_text="Name in the operations table.")
    path = models.CharField(max_length=300)
    received_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(help_text="Of the answer.")
    code = models.CharField(max_length=60, blank=True, help_text="`error.code` of the answer.")
    total_ms = models.PositiveIntegerField()
    waited_ms = models.PositiveIntegerField(default=0, help_text="For the rate limit.")
    service_ms = models.PositiveIntegerField(default=0, help_text="For the service's answer.")
    service_requests = models.PositiveSmallIntegerField(default=0)
    is_replayed = models.BooleanField(default=False)
    charge = models.ForeignKey(
        Charge, models.SET_NULL, related_name="+", null=True, blank=True, db_index=False
    )
    job = models.ForeignKey(
        Job, models.SET_NULL, related_name="+", null=True, blank=True, db_index=False
    )
    client_ip = models.GenericIPAddressField(null=True, blank=True)
    user_agent = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["tenant", "-received_at"], name="gateway_request_of_tenant"),
            models.Index(fields=["key", "-received_at"], name="gateway_request_of_key"),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.status}"


class StoredAnswer(models.Model):
    """An answer of the service, byte for byte, so that it can be given again.

    Of a charge it is the answer to its one request; with an `idempotency_key` it is that of the
    first request with it. Until then `status` is null: the request is still running, or its charge
    tells its outcome.
    """

    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="+")
    idempotency_key = models.CharField(max_length=255, null=True, blank=True)
    fingerprint = models.CharField(max_length=64, blank=True, help_text="Of path and body.")
    charge = models.OneToOneField(
        Charge, models.CASCADE, related_name="answer", null=True, blank=True
    )
    status = models.PositiveSmallIntegerField(null=True, blank=True)
    headers = models.JSONField(default=dict)
    body = models.BinaryField(default=b"")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key", "idempotency_key"],
                condition=models.Q(idempotency_key__isnull=False),
                name="answer_once_per_idempotency_key",
            ),
        ]

    def __str__(self) -> str:
        return f"answer {self.status}"


class PolledAnswer(models.Model):
    """What the last poll of a script's job was answered, so that the script need not ask the
    service itself."""

    job = models.OneToOneField(Job, models.CASCADE, related_name="polled_answer", primary_key=True)
    status = models.PositiveSmallIntegerField()
    headers = models.JSONField(default=dict)
    body = models.BinaryField()
    read_at = models.DateTimeField(help_text="When the service was asked.")

    def __str__(self) -> str:
        return f"answer {self.status} of {self.read_at:%H:%M:%S}"


class Quote(models.Model):
    """The price of one request of a script; nothing is held for it. Its id is the nonce of its
    charge, so `charge_once_per_nonce` lets it be spent once, as a form."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.ForeignKey(ApiKey, models.CASCADE, related_name="+")
    account = models.ForeignKey(Account, models.CASCADE, related_name="+")
    operation = models.CharField(max_length=60, help_text="Name in the operations table.")
    digest = models.CharField(max_length=64, help_text="Of operation, path, query, body, files.")
    price = models.DecimalField(**CREDIT_FIELD_OPTIONS, null=True)  # null: nobody knows it before
    hold = models.DecimalField(**CREDIT_FIELD_OPTIONS, help_text="The upper bound of the price.")
    is_exact = models.BooleanField(help_text="Whether the price is the one charged.")
    expires_at = models.DateTimeField(db_index=True)
    order = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="Of an agent: the digest of what it asked for; else empty.",
    )
    request = models.JSONField(
        null=True, blank=True, help_text="Of an agent: path and fields of the request to spend it."
    )

    class Meta:
        indexes = [
            models.Index(fields=["key", "order"], name="quote_of_order", condition=~Q(order="")),
        ]

    def __str__(self) -> str:
        return f"quote for {self.operation}"

    @property
    def is_expired(self) -> bool:
        return self.expires_at <= timezone.now()

    @property
    def charges(self) -> ChargeQuerySet:
        """The charge that it was spent on, or none."""
        rows = Charge.objects.select_related("job").filter(api_key=self.key_id)
        return rows.filter(tenant=self.key.tenant_id, nonce=self.pk)

    def find_charge_locked(self) -> Charge | None:
        """As `find_spent`. The quotes are locked until the transaction ends."""
        list(self.same_step().order_by("pk").select_for_update())
        return self.find_spent()

    def same_step(self) -> models.QuerySet[Quote]:
        """This quote, and the others for the same step of its order."""
        is_same = Q(pk=self.pk)
        if self.order:
            is_same |= Q(order=self.order, operation=self.operation)
        return Quote.objects.filter(is_same, key=self.key_id)

    def find_spent(self) -> Charge | None:
        """The charge that this quote was spent on, or another quote for the same step of its
        order, unless that one was refused."""
        if (own := self.charges.first()) is not None:
            return own
        charges = Charge.objects.select_related("job").filter(api_key=self.key_id)
        charges = charges.filter(tenant=self.key.tenant_id, nonce__in=self.same_step().values("pk"))
        return charges.exclude(state=ChargeState.REFUSED).first()

    def release(self) -> None:
        """Let it be spent again if its charge ended before it was sent."""
        unsent = self.charges.filter(state=ChargeState.REFUSED, sent_at=None)
        unsent.update(nonce=uuid.uuid4())
