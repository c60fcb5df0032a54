"""Sources of outside spend that a team has named, such as "Nightly script".

A debit that no charge explains belongs to the first source, by age, all of whose criteria it meets.
The ledger does not name the token of a debit (spec: `GET /credits/ledger`), so a source is known by
the text of its debits, by whether the API made them, and by their hour.
"""

from __future__ import annotations

from typing import Any, ClassVar
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db import models
from django.db.models import ExpressionWrapper, F, OuterRef, Q, Subquery
from django.db.models.functions import ExtractHour

from proxyapi.models import Account
from proxyapi.models.account import CREDIT_FIELD_OPTIONS

MAX_SOURCE_NAME_CHARS, MAX_SOURCE_TEXT_CHARS = 60, 100
MAX_SOURCES_PER_ACCOUNT = 20


class OutsideSource(models.Model):
    """Criteria that are empty or null fit every debit; at least one is set.

    Hours are those of the team's time zone (`Tenant.zone`): from 22 until 4 is a night.
    """

    account = models.ForeignKey(Account, models.CASCADE, related_name="outside_sources")
    name = models.CharField(max_length=MAX_SOURCE_NAME_CHARS)
    text = models.CharField(
        max_length=MAX_SOURCE_TEXT_CHARS,
        blank=True,
        help_text="Part of the label or of the content type.",
    )
    via_api = models.BooleanField(null=True, blank=True)
    from_hour = models.PositiveSmallIntegerField(null=True, blank=True, help_text="0 to 23.")
    until_hour = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="0 to 23, not included."
    )
    daily_limit = models.DecimalField(
        **CREDIT_FIELD_OPTIONS, help_text="Credits a day up to which nobody is alerted."
    )
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    CRITERIA: ClassVar = ("text", "via_api", "from_hour", "until_hour")

    class Meta:
        ordering = ("pk",)
        constraints = [
            models.UniqueConstraint(fields=["account", "name"], name="outside_source_name_once"),
            models.CheckConstraint(
                condition=Q(from_hour=None, until_hour=None)
                # A condition that is null would hold.
                | Q(from_hour__isnull=False, until_hour__isnull=False)
                & Q(from_hour__range=(0, 23), until_hour__range=(0, 23))
                & ~Q(from_hour=F("until_hour")),
                name="outside_source_hours_both",
            ),
            models.CheckConstraint(
                condition=~Q(text="") | Q(via_api__isnull=False) | Q(from_hour__isnull=False),
                name="outside_source_has_a_criterion",
            ),
            models.CheckConstraint(
                condition=Q(daily_limit__gte=0), name="outside_source_limit_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return self.name


def annotate_outside_source(
    entries: models.QuerySet[Any, Any], zone: ZoneInfo, column: str = "pk"
) -> models.QuerySet[Any, Any]:
    """Annotate entries with `source`: the `column` of the named source that they belong to, or
    null. Only debits outside the portal have one, and the caller selects those."""
    fitting = OutsideSource.objects.filter(account=OuterRef("account")).annotate(
        label=ExpressionWrapper(OuterRef("label"), models.CharField()),
        kind=ExpressionWrapper(OuterRef("content_type"), models.CharField()),
        hour=ExpressionWrapper(OuterRef("hour"), models.IntegerField()),
    )
    is_from, is_before = Q(from_hour__lte=F("hour")), Q(until_hour__gt=F("hour"))
    fitting = fitting.filter(
        Q(text="") | Q(label__icontains=F("text")) | Q(kind__icontains=F("text")),
        Q(via_api=None) | Q(via_api=OuterRef("via_api")),
        Q(from_hour=None)
        | Q(from_hour__lt=F("until_hour")) & is_from & is_before
        | Q(from_hour__gt=F("until_hour")) & (is_from | is_before),
    )
    at_hour = entries.annotate(hour=ExtractHour("happened_at", tzinfo=zone))
    source = Subquery(fitting.order_by("pk").values(column)[:1])
    named: models.QuerySet[Any, Any] = at_hour.annotate(source=source)
    return named
