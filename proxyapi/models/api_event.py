"""Events of the API: what happened to what a team's scripts and members did, for scripts and
webhooks.

A row is written in the transaction of the change that it tells of. Its id follows from that change,
so the same change is told once. Its position, which streams continue from, is given after the
commit: a row that is committed late is never behind what was read before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID, uuid5

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models, transaction
from django.db.models import Q
from django.dispatch import Signal
from django.utils import timezone

from proxyapi.api_event_types import ApiEventType
from proxyapi.models.account import amount_text
from proxyapi.models.api_key import ApiKey
from proxyapi.models.tenant import Tenant

if TYPE_CHECKING:
    from proxyapi.models.charge import Charge

# Sent in the transaction that writes an event, with `event`.
event_recorded = Signal()


class ApiEventQuerySet(models.QuerySet["ApiEvent"]):
    def record(
        self,
        event_type: ApiEventType,
        subject: UUID,
        data: Mapping[str, Any],
        *,
        tenant_id: UUID,
        occurrence: str = "",
        member_id: int | None = None,
        api_key_id: UUID | None = None,
    ) -> None:
        """Write an event in the caller's transaction; one that was written before stays as it is.

        `subject` is the id of what it is about, `occurrence` tells apart what may happen to that
        more than once. `member_id` is the user who may read it, None for the whole team.
        """
        event = self.model(
            id=uuid5(subject, f"{event_type} {occurrence}"),
            tenant_id=tenant_id,
            event_type=event_type,
            member_id=member_id,
            api_key_id=api_key_id,
            data={**data, "key": api_key_id},
        )
        self.bulk_create([event], ignore_conflicts=True)
        event_recorded.send(ApiEvent, event=event)

    def after(self, position: int) -> Self:
        return self.filter(position__gt=position).order_by("position")

    def number_new(self, tenant_id: UUID) -> int:
        """Give committed events of the tenant their positions; return the last one given."""
        new = self.filter(tenant=tenant_id, position=None).order_by("happened_at", "pk")
        if not new.exists():
            return Tenant.objects.values_list("last_event", flat=True).get(pk=tenant_id)
        with transaction.atomic():
            # Two processes at once would give a position twice.
            tenant = Tenant.objects.select_for_update(no_key=True).get(pk=tenant_id)
            for id in new.values_list("pk", flat=True):
                tenant.last_event += 1
                self.filter(pk=id).update(position=tenant.last_event)
            tenant.save(update_fields=["last_event"])
        return tenant.last_event


class ApiEvent(models.Model):
    id = models.UUIDField(primary_key=True, editable=False)
    tenant = models.ForeignKey(Tenant, models.CASCADE, related_name="+", db_index=False)
    position = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Among the tenant's; null until after its commit."
    )
    event_type = models.CharField(max_length=40)
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="+",
        null=True,
        blank=True,
        db_index=False,
        help_text="Who may read it; null for the whole team.",
    )
    api_key = models.ForeignKey(
        ApiKey, models.CASCADE, related_name="+", null=True, blank=True, db_index=False
    )  # of the script whose doing it tells of
    data = models.JSONField(encoder=DjangoJSONEncoder)
    happened_at = models.DateTimeField(default=timezone.now, db_index=True)

    objects = ApiEventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["tenant", "position"], name="api_event_position_once"),
        ]
        indexes = [
            models.Index(
                fields=["tenant"], condition=Q(position__isnull=True), name="api_event_not_numbered"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event_type} {self.pk}"

    @property
    def content(self) -> dict[str, Any]:
        """What streams and webhooks send of it; amounts are credits, the time is UTC."""
        at = self.happened_at.isoformat().replace("+00:00", "Z")
        return {"id": str(self.pk), "type": self.event_type, "timestamp": at, "data": self.data}


def record_charge_event(charge: Charge, before: str) -> None:
    """Write the event of a transition of a charge from the state `before`, in the caller's
    transaction. None while it is to be sent, and none of a draft: its approval request tells."""
    if before == "draft" or charge.state in ("held", "sending"):
        return
    is_unknown = charge.state == "unknown"
    ApiEvent.objects.record(
        ApiEventType.CHARGE_UNKNOWN if is_unknown else ApiEventType.CHARGE_SETTLED,
        charge.pk,
        {
            "charge": charge.pk,
            "operation": charge.operation,
            "state": charge.state,
            "price": amount_text(charge.price),
            "cost": None if charge.cost is None else amount_text(charge.cost),
            "job": charge.job_id,
            "resource": charge.job.remote_id if charge.job else None,
            "url": f"/api/v2/_charges/{charge.pk}",
        },
        tenant_id=charge.tenant_id,
        occurrence=f"{charge.state} {charge.lost_at if is_unknown else charge.settled_at}",
        member_id=charge.member_id,
        api_key_id=charge.api_key_id,
    )
