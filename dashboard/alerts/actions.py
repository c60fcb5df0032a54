"""Actions of the alerts page: change rules, add webhooks, send a test, mark alerts as read."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.alerts.delivery import webhook
from dashboard.alerts.delivery.chat_messages import guess_webhook_format
from dashboard.alerts.delivery.errors import DeliveryFailed
from dashboard.models import (
    ALERTS,
    AlertEvent,
    AlertKind,
    AlertRule,
    AlertWebhook,
    AuditAction,
    Delivery,
    DeliveryChannel,
    DeliveryState,
    Membership,
    Team,
    WebhookFormat,
)
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.notices import schedule_deliveries
from dashboard.shared.roles import Permission
from proxyapi import throttle
from proxyapi.events import EventType, publish_event
from proxyapi.models import ApiEvent
from proxyapi.refusals import BY_OTHERS, Refusal, StaleData, format_credits

DUPLICATE_THRESHOLD = "This threshold already exists."
RULE_CHANGED_MEANWHILE = (
    f"This was changed {BY_OTHERS}. It is now: {{now}}. Save again to apply the values below."
)
WEBHOOK_CHANGED_MEANWHILE = (
    f"This webhook was changed {BY_OTHERS}. Nothing was saved. Your values are below; save again "
    "to apply them."
)
TESTS_PER_MINUTE_MEMBER, TESTS_PER_MINUTE_TEAM = 3, 6  # a minute
TOO_MANY_TESTS = (
    "Too many tests were sent within a minute. Nothing was sent. Try again in {wait} s."
)
RESENDS_PER_MINUTE = 30
TOO_MANY = (
    "Too many alerts were sent again within a minute. Nothing was sent. Try again in {wait} s."
)
WEBHOOK_WAS_REMOVED = "Nothing was sent: the webhook of this delivery was removed."
WEBHOOK_IS_DISABLED = "Nothing was sent: the webhook of this delivery is disabled. Enable it first."
MAX_WEBHOOKS = 5
TOO_MANY_WEBHOOKS = f"A team has at most {MAX_WEBHOOKS} webhooks. Remove one first."
ALREADY_QUEUED = "Nothing was sent twice: this delivery is already being sent."
RULE_FIELDS = ("threshold", "active", "by_email", "by_webhook")


@dataclass(frozen=True, slots=True)
class AlertRuleChange:
    """The requested values of a rule; `base_version` is the `alert_rule_version` the form was built
    from."""

    id: uuid.UUID
    threshold: Decimal
    active: bool
    by_email: bool
    by_webhook: bool
    base_version: str

    @property
    def is_changed(self) -> bool:
        """True if the form's values differ from those it was built from."""
        return alert_rule_version(self) != self.base_version


@transaction.atomic
@append_audit_rows_last()
def update_alert_rules(*, by: Membership, requested: Iterable[AlertRuleChange]) -> int:
    """Save the rules that the form changed; return their number.

    Raises `StaleData` if another member changed one of these rules meanwhile, `Refusal` for a
    duplicate threshold.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    rows = AlertRule.objects.select_for_update().filter(team=by.team).order_by("pk")
    rules = {rule.pk: rule for rule in rows}
    changes = [
        (rules[change.id], change)
        for change in requested
        if change.id in rules and change.is_changed
    ]
    changes = [
        (rule, change)
        for rule, change in changes
        if alert_rule_version(rule) != alert_rule_version(change)
    ]
    if conflicts := [
        describe_alert_rule(rule)
        for rule, change in changes
        if alert_rule_version(rule) != change.base_version
    ]:
        raise StaleData(RULE_CHANGED_MEANWHILE.format(now="; ".join(conflicts)))
    for rule, change in order_without_conflicts(changes):
        before = alert_rule_audit_details(rule)
        for name in RULE_FIELDS:
            setattr(rule, name, getattr(change, name))
        save_alert_rule(rule)
        record_audit_event(
            by,
            AuditAction.ALERT_RULE_CHANGE,
            rule.pk,
            kind=rule.kind,
            before=before,
            after=alert_rule_audit_details(rule),
        )
    if changes:
        enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return len(changes)


def order_without_conflicts(
    changes: list[tuple[AlertRule, AlertRuleChange]],
) -> Iterator[tuple[AlertRule, AlertRuleChange]]:
    """Order the changes so that no rule takes a threshold before another rule has left it."""
    pending = list(changes)
    while pending:
        thresholds_in_use = {(rule.kind, rule.threshold): rule for rule, _ in pending}
        unblocked = (
            pair
            for pair in pending
            if thresholds_in_use.get((pair[0].kind, pair[1].threshold), pair[0]) is pair[0]
        )
        next_pair = next(unblocked, pending[0])
        pending.remove(next_pair)
        yield next_pair


@transaction.atomic
def add_alert_rule(*, by: Membership, kind: AlertKind, threshold: Decimal) -> AlertRule:
    check_permission(by, Permission.MANAGE_MONEY)
    rule = AlertRule(team=by.team, kind=kind, threshold=threshold)
    save_alert_rule(rule)
    record_audit_event(
        by,
        AuditAction.ALERT_RULE_ADD,
        rule.pk,
        after=alert_rule_audit_details(rule),
        kind=rule.kind,
    )
    enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return rule


def add_webhook(
    *,
    by: Membership,
    url: str,
    message_format: str = "",
    name: str = "",
    event_types: Sequence[str] = (),
) -> str:
    """Send alerts, and events of these types, to `url`, too; return the signing secret, which is
    shown only once, or "" for the format of a chat. Without a format the host decides. An address
    that was added before gets the format, a new secret, and name and types, if there are any.

    Raises `Refusal` if the host is not allowed. The name is resolved before the transaction,
    because a transaction on SQLite blocks all other writers.
    """
    try:
        parsed = webhook.parse_webhook_url(url)
        webhook.resolve_webhook_address(parsed)
    except DeliveryFailed as error:
        raise Refusal(error.sentence, field="url") from None
    new = AlertWebhook(
        team=by.team,
        url=url,
        message_format=message_format or guess_webhook_format(parsed.host),
        name=name,
        event_types=list(event_types),
        # Before the transaction: numbering locks the tenant, which others lock before the team.
        event_position=ApiEvent.objects.number_new(by.team.tenant_id),
    )
    return save_webhook(by, new)


@transaction.atomic
def save_webhook(by: Membership, new: AlertWebhook) -> str:
    check_permission(by, Permission.MANAGE_MONEY)
    # Two concurrent presses must not exceed the limit or add an address twice.
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    hooks = AlertWebhook.objects.filter(team=by.team)
    hook = hooks.filter(url=new.url).first()
    if hook is None and hooks.count() >= MAX_WEBHOOKS:
        raise Refusal(TOO_MANY_WEBHOOKS, field="url")
    hook = hook or new
    hook.message_format, hook.name = new.message_format, new.name or hook.name
    hook.event_types = new.event_types or hook.event_types or [ALERTS]
    secret = webhook.generate_webhook_secret()
    webhook.encrypt_webhook_secret(hook, secret)
    hook.previous_until = hook.failing_since = hook.disabled_at = None
    hook.save()
    after = {**webhook_audit_details(hook), "format": hook.message_format}
    record_audit_event(by, AuditAction.WEBHOOK_SET, hook.pk, after=after)
    return secret if hook.message_format == WebhookFormat.JSON else ""


@transaction.atomic
def update_webhook(
    *, by: Membership, hook: AlertWebhook, name: str, event_types: Sequence[str], drawn: str
) -> None:
    """Save a webhook. Raises `StaleData` if `drawn`, the `webhook_version` that the form was built
    from, is another one now."""
    check_permission(by, Permission.MANAGE_MONEY)
    hook = AlertWebhook.objects.select_for_update().get(pk=hook.pk)
    if webhook_version(hook) != drawn:
        raise StaleData(WEBHOOK_CHANGED_MEANWHILE)
    before = webhook_audit_details(hook)
    hook.name, hook.event_types = name, list(event_types)
    hook.save(update_fields=["name", "event_types"])
    after = webhook_audit_details(hook)
    record_audit_event(by, AuditAction.WEBHOOK_SET, hook.pk, before=before, after=after)


@transaction.atomic
def rotate_webhook_secret(*, by: Membership, hook: AlertWebhook) -> str:
    """Return a new secret, which is shown only once; the one before signs for a day as well."""
    check_permission(by, Permission.MANAGE_MONEY)
    hook = AlertWebhook.objects.select_for_update().get(pk=hook.pk)
    before, new = webhook.decrypt_webhook_secrets(hook)[0], webhook.generate_webhook_secret()
    webhook.encrypt_webhook_secret(hook, f"{new} {before}")
    hook.previous_until = timezone.now() + webhook.BOTH_SECRETS_SIGN_FOR
    hook.save(update_fields=["ciphertext", "previous_until"])
    after = {**webhook_audit_details(hook), "old_value_until": hook.previous_until}
    record_audit_event(by, AuditAction.WEBHOOK_SET, hook.pk, after=after)
    return new


def enable_webhook(*, by: Membership, hook: AlertWebhook) -> None:
    """Send to it again what happens from now on."""
    check_permission(by, Permission.MANAGE_MONEY)
    hook.event_position = ApiEvent.objects.number_new(by.team.tenant_id)
    hook.failing_since = hook.disabled_at = None
    after = {**webhook_audit_details(hook), "active": True}
    with transaction.atomic():
        hook.save(update_fields=["event_position", "failing_since", "disabled_at"])
        record_audit_event(by, AuditAction.WEBHOOK_SET, hook.pk, after=after)


@transaction.atomic
def remove_webhook(*, by: Membership, hook: AlertWebhook) -> None:
    check_permission(by, Permission.MANAGE_MONEY)
    before = webhook_audit_details(hook)
    record_audit_event(by, AuditAction.WEBHOOK_REMOVE, hook.pk, before=before)
    hook.delete()


def webhook_version(hook: AlertWebhook) -> str:
    """The values that its form changes, so that a form can detect a concurrent change."""
    return json.dumps([hook.name, hook.event_types])


def webhook_audit_details(hook: AlertWebhook) -> dict[str, Any]:
    name = {"name": hook.name} if hook.name else {}
    events = {} if hook.event_types == [ALERTS] else {"events": ", ".join(hook.event_types)}
    return {**name, "host": hook.host, **events}


@transaction.atomic
def send_test_alert(*, by: Membership) -> list[Delivery]:
    """Send a test alert on every channel, with the email to the sender only. Raises
    `TooManyAttempts`."""
    check_permission(by, Permission.MANAGE_MONEY)
    limits = {
        f"alert-tests-of-member:{by.user_id}": TESTS_PER_MINUTE_MEMBER,
        f"alert-tests-of-team:{by.team_id}": TESTS_PER_MINUTE_TEAM,
    }
    throttle.count_attempt(limits, TOO_MANY_TESTS)
    event = AlertEvent.objects.create(
        team=by.team,
        subject="test",
        period=timezone.now().isoformat(),
        state="info",
        title=f"{by.user.first_name} sent a test alert",
        text="This is a test. No action is needed.",
        url="/alerts/",
    )
    rows = schedule_deliveries(event, to=[by.user])
    record_audit_event(by, AuditAction.ALERT_TEST, event.pk, ways=[row.channel for row in rows])
    publish_event(by.team.tenant_id, EventType.ALERT, event.pk)
    for row in rows:
        enqueue.enqueue_after_commit(enqueue.DELIVER_ALERT_TASK, row.pk)
    return rows


@transaction.atomic
def resend_delivery(*, by: Membership, delivery: Delivery) -> None:
    """Queue a delivery again that has ended.

    Raises `Refusal` if it is queued already or its webhook was removed, `TooManyAttempts`.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    if delivery.channel == DeliveryChannel.WEBHOOK:
        hook = webhook.find_delivery_webhook(delivery)
        if hook is None:
            raise Refusal(WEBHOOK_WAS_REMOVED)
        if hook.disabled_at is not None:
            raise Refusal(WEBHOOK_IS_DISABLED)
    throttle.count_attempt({f"alert-resends-of-team:{by.team_id}": RESENDS_PER_MINUTE}, TOO_MANY)
    # The condition lets one of two concurrent presses through.
    ended = Delivery.objects.filter(pk=delivery.pk).exclude(state=DeliveryState.DUE)
    if not ended.update(
        state=DeliveryState.DUE,
        attempts=0,
        due_at=timezone.now(),
        status=None,
        error="",
        delivered_at=None,
    ):
        raise Refusal(ALREADY_QUEUED)
    record_audit_event(
        by,
        AuditAction.ALERT_RESEND,
        delivery.pk,
        before={"state": delivery.state},
        title=delivery.event.title,
        way=delivery.channel,
    )
    publish_event(by.team.tenant_id, EventType.ALERT, delivery.event_id)
    enqueue.enqueue_after_commit(enqueue.DELIVER_ALERT_TASK, delivery.pk)


def mark_alerts_read(*, by: Membership) -> None:
    """Mark all alerts so far as read. This concerns only the reader, so there is no audit row."""
    Membership.objects.filter(pk=by.pk).update(alerts_read_at=timezone.now())


def save_alert_rule(rule: AlertRule) -> None:
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError:
        raise Refusal(DUPLICATE_THRESHOLD, field=f"threshold-{rule.pk}") from None


def alert_rule_version(rule: AlertRule | AlertRuleChange) -> str:
    """The values of a rule as text, such as "1000/110", so that a form can detect a concurrent
    change."""
    boxes = (rule.active, rule.by_email, rule.by_webhook)
    return f"{rule.threshold.normalize():f}/{''.join(str(int(box)) for box in boxes)}"


def describe_alert_rule(rule: AlertRule) -> str:
    """ "the balance from 2,000, on, by e-mail and webhook"."""
    threshold_text = f" from {format_credits(rule.threshold)}" if rule.threshold else ""
    channel_flags = (("e-mail", rule.by_email), ("webhook", rule.by_webhook))
    channels = " and ".join(name for name, is_enabled in channel_flags if is_enabled)
    channels_text = f", by {channels}" if channels else ", in the portal only"
    state = "on" if rule.active else "off"
    return f"{rule.get_kind_display()}{threshold_text}, {state}{channels_text}"


def alert_rule_audit_details(rule: AlertRule) -> dict[str, object]:
    details: dict[str, object] = {name: getattr(rule, name) for name in RULE_FIELDS}
    return {**details, "threshold": f"{rule.threshold.normalize():f}"}
