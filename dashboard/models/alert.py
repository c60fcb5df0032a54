"""Alerts: the rules of a team, their events, and the deliveries of the events.

A rule names what is monitored and its threshold. A finding creates one event for each subject,
threshold and period, however often it is evaluated: a constraint ensures it.
"""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Self
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from dashboard.models.membership import Membership, Team
from dashboard.models.notification import NotificationKind
from proxyapi.models import ApiEvent

ALERTS = "alert"  # among the event types of a webhook


class AlertKind(models.TextChoices):
    BALANCE = "balance", "the balance"
    FORECAST = "forecast", "the forecast"
    BUDGET = "budget", "budgets"
    APPROVAL_REQUEST = "approval_request", "approval requests"
    TOP_UP_FAILED = "top_up_failed", "failed top-ups"
    TOP_UP_OFF = "top_up_off", "top-up switched off"
    UNKNOWN_CHARGE = "unknown_charge", "unknown charges"
    REFUND_OWED = "refund_owed", "refunds owed"
    STALLED_JOB = "stalled_job", "jobs that no longer move"
    RECONCILIATION = "reconciliation", "the ledger"
    CLOCK = "clock", "the clock"


class AlertRule(models.Model):
    """`threshold` is in the unit of the kind: credits, days, failures or minutes; 0 if it has
    none."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="alert_rules")
    kind = models.CharField(max_length=16, choices=AlertKind)
    threshold = models.DecimalField(max_digits=14, decimal_places=4, default=0)
    active = models.BooleanField(default=True)
    by_email = models.BooleanField(default=True)
    by_webhook = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "kind", "threshold"], name="alert_rule_once"),
            models.CheckConstraint(
                condition=Q(kind__in=AlertKind.values), name="alert_rule_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(threshold__gte=0), name="alert_rule_threshold_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} from {self.threshold}"


class AlertEventQuerySet(models.QuerySet["AlertEvent"]):
    def visible_to(self, reader: Membership, *, money: bool) -> Self:
        """Return the events of the team, those about the reader that they want in the portal, and
        with `money` those for money managers."""
        is_visible = Q(member=None, for_money=False) | Q(member=reader.user_id)
        if money:
            is_visible |= Q(for_money=True)
        return self.filter(is_visible, team=reader.team_id, in_portal=True)


class AlertEvent(models.Model):
    """An event without a rule is a test, a notice, or a notification of the kind `notification`.
    `member`: it concerns this user; `for_money`: for treasurers and owners; with neither it is for
    the whole team."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="alert_events")
    rule = models.ForeignKey(AlertRule, models.CASCADE, null=True, blank=True, related_name="+")
    subject = models.CharField(max_length=60)
    threshold = models.DecimalField(max_digits=14, decimal_places=4, default=0)
    period = models.CharField(max_length=40, blank=True)
    member = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+"
    )
    for_money = models.BooleanField(default=False)
    notification = models.CharField(max_length=16, choices=NotificationKind, blank=True)
    in_portal = models.BooleanField(
        default=True, help_text="False: the person wants no notifications of this kind listed."
    )
    state = models.CharField(max_length=9, help_text="Status name, for the icon.")
    title = models.CharField(max_length=160)
    text = models.CharField(max_length=400, blank=True)
    url = models.CharField(max_length=200, blank=True, help_text="Page of the portal to open.")
    api_event = models.OneToOneField(
        ApiEvent,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="What webhooks are told of; such a row is no alert and listed nowhere.",
    )
    happened_at = models.DateTimeField(default=timezone.now)

    objects = AlertEventQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rule", "subject", "threshold", "period"], name="alert_once_a_period"
            ),
            models.UniqueConstraint(
                fields=["team", "member", "notification", "subject", "period"],
                condition=~Q(notification=""),
                name="notification_once",
            ),
            models.CheckConstraint(
                condition=Q(notification="") | Q(member__isnull=False, rule__isnull=True),
                name="notification_is_for_a_member",
            ),
        ]
        indexes = [models.Index(fields=["team", "-happened_at"], name="alert_newest")]

    def __str__(self) -> str:
        return self.title

    @property
    def link(self) -> str:
        """The page of the portal to open, as a whole URL."""
        return f"{settings.PORTAL_URL}{self.url or '/'}"


class DeliveryChannel(models.TextChoices):
    EMAIL = "email", "e-mail"
    WEBHOOK = "webhook"


class DeliveryState(models.TextChoices):
    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"


class DeliveryQuerySet(models.QuerySet["Delivery"]):
    def due(self, now: datetime) -> Self:
        return self.filter(state=DeliveryState.DUE, due_at__lte=now).order_by("due_at")


class Delivery(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    event = models.ForeignKey(AlertEvent, models.CASCADE, related_name="deliveries")
    channel = models.CharField(max_length=7, choices=DeliveryChannel)
    address = models.CharField(max_length=254, help_text="E-mail address, or the webhook's host.")
    # Kept when the webhook is removed, so that none of the same host gets what was meant for it.
    webhook = models.ForeignKey(
        "AlertWebhook",
        models.DO_NOTHING,
        null=True,
        blank=True,
        related_name="deliveries",
        db_constraint=False,
        db_index=False,
        help_text="None: an e-mail, or a release in which a team had one webhook.",
    )
    state = models.CharField(max_length=9, choices=DeliveryState, default=DeliveryState.DUE)
    attempts = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="HTTP status of the last response."
    )
    error = models.CharField(max_length=200, blank=True, help_text="Why the last attempt failed.")
    attachment = models.TextField(
        blank=True, default="", db_default="", help_text="CSV that is sent with an e-mail."
    )
    created_at = models.DateTimeField(default=timezone.now)
    delivered_at = models.DateTimeField(null=True, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["event", "channel", "address"],
                condition=Q(webhook__isnull=True),
                name="delivery_once_per_address",
            ),
            models.UniqueConstraint(
                fields=["webhook", "event"],
                condition=Q(webhook__isnull=False),
                name="delivery_once_per_webhook",
            ),
            models.CheckConstraint(
                condition=Q(channel__in=DeliveryChannel.values), name="delivery_channel_known"
            ),
            models.CheckConstraint(
                condition=Q(state__in=DeliveryState.values), name="delivery_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state="delivered") | Q(delivered_at__isnull=False),
                name="delivery_delivered_has_time",
            ),
        ]
        indexes = [
            models.Index(fields=["due_at"], condition=Q(state="due"), name="delivery_due"),
            models.Index(fields=["event", "created_at"], name="delivery_of_event"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} to {self.address}, {self.state}"


class WebhookFormat(models.TextChoices):
    JSON = "json", "Signed JSON"
    SLACK = "slack"
    DISCORD = "discord"
    TEAMS = "teams", "Microsoft Teams"


def default_event_types() -> list[str]:
    return [ALERTS]


class AlertWebhook(models.Model):
    """A URL that a team's alerts and the events it chose are posted to, and the encrypted secret
    that signs them; the formats of chats have no signature."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="webhooks")
    url = models.URLField(max_length=500)
    message_format = models.CharField(
        max_length=7,
        choices=WebhookFormat,
        default=WebhookFormat.JSON,
        db_default=WebhookFormat.JSON,
    )
    name = models.CharField(
        max_length=60,
        blank=True,
        default="",
        db_default="",
        help_text="For people, if several have the same host.",
    )
    event_types = models.JSONField(
        default=default_event_types,
        db_default=[ALERTS],
        help_text="Of the API's events, and “alert” for the alerts of the rules.",
    )
    event_position = models.PositiveBigIntegerField(
        default=0, db_default=0, help_text="Of the last event that it was given or did not want."
    )
    # While it is rotated, the secret before follows the new one, after a space.
    ciphertext = models.BinaryField()
    previous_until = models.DateTimeField(
        null=True, blank=True, help_text="Until when the secret before signs as well."
    )
    failing_since = models.DateTimeField(
        null=True, blank=True, help_text="The first failure since the last delivery."
    )
    disabled_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on nothing is sent, as it failed for days."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(message_format__in=WebhookFormat.values), name="webhook_format_known"
            )
        ]

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    @property
    def host(self) -> str:
        """Return the part of the URL that pages and logs show; the rest may be a secret."""
        return urlsplit(self.url).hostname or ""

    def encryption_context(self) -> str:
        """Return the name that binds the encrypted secret to this row."""
        return f"webhook:{self.pk}"
