"""Alerts: which thresholds are watched, where they are told, a test, and what was read."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.alerts.delivery import webhook
from dashboard.alerts.delivery.errors import DeliveryFailed
from dashboard.models import (
    AlertEvent,
    AlertKind,
    AlertRule,
    AlertWebhook,
    AuditAction,
    Delivery,
    Membership,
)
from dashboard.shared import enqueue
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.notices import schedule_deliveries
from dashboard.shared.roles import Permission
from proxyapi import throttle
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData, format_credits

DUPLICATE_THRESHOLD = "This threshold already exists."
RULE_CHANGED_MEANWHILE = (
    "Someone else changed this. It is now: {now}. Save again to apply the values below."
)
TESTS_PER_MINUTE_MEMBER, TESTS_PER_MINUTE_TEAM = 3, 6  # a minute
TOO_MANY_TESTS = (
    "Too many tests were sent within a minute. Nothing was sent. Try again in {wait} s."
)
RULE_FIELDS = ("threshold", "active", "by_email", "by_webhook")


@dataclass(frozen=True, slots=True)
class AlertRuleChange:
    """How a rule should be, and how it was drawn, as `alert_rule_version` says it."""

    id: uuid.UUID
    threshold: Decimal
    active: bool
    by_email: bool
    by_webhook: bool
    base_version: str

    @property
    def is_changed(self) -> bool:
        """Whether somebody chose it so in the form."""
        return alert_rule_version(self) != self.base_version


@transaction.atomic
@append_audit_rows_last()
def update_alert_rules(*, by: Membership, wanted: Iterable[AlertRuleChange]) -> int:
    """Change those that differ from what was drawn; answers how many.

    Raises `StaleData` when somebody else changed one of these meanwhile, `Refusal` for a threshold
    that is there twice.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    rows = AlertRule.objects.select_for_update().filter(team=by.team).order_by("pk")
    rules = {rule.pk: rule for rule in rows}
    meant = [(rules[one.id], one) for one in wanted if one.id in rules and one.is_changed]
    meant = [
        (rule, one) for rule, one in meant if alert_rule_version(rule) != alert_rule_version(one)
    ]
    if lost := [
        describe_alert_rule(rule)
        for rule, one in meant
        if alert_rule_version(rule) != one.base_version
    ]:
        raise StaleData(RULE_CHANGED_MEANWHILE.format(now="; ".join(lost)))
    for rule, one in order_without_conflicts(meant):
        before = alert_rule_audit_details(rule)
        for name in RULE_FIELDS:
            setattr(rule, name, getattr(one, name))
        save_alert_rule(rule)
        record_audit_event(
            by,
            AuditAction.ALERT_RULE_CHANGE,
            rule.pk,
            kind=rule.kind,
            before=before,
            after=alert_rule_audit_details(rule),
        )
    if meant:
        enqueue.enqueue_after_commit(enqueue.EVALUATE_ALERTS_TASK, by.team_id)
    return len(meant)


def order_without_conflicts(
    meant: list[tuple[AlertRule, AlertRuleChange]],
) -> Iterator[tuple[AlertRule, AlertRuleChange]]:
    """So that none takes a threshold that another one is about to leave."""
    left = list(meant)
    while left:
        held = {(rule.kind, rule.threshold): rule for rule, _ in left}
        free = (it for it in left if held.get((it[0].kind, it[1].threshold), it[0]) is it[0])
        turn = next(free, left[0])
        left.remove(turn)
        yield turn


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


def set_webhook(*, by: Membership, url: str) -> str:
    """Post alerts there from now on; answers the secret that signs them, this once.

    Raises `Refusal` for an address that would not be connected to. Its name is looked up before the
    transaction, which on SQLite keeps everybody else from writing.
    """
    try:
        webhook.resolve_webhook_address(webhook.parse_webhook_url(url))
    except DeliveryFailed as error:
        raise Refusal(error.sentence, field="url") from None
    return replace_webhook(by, url)


@transaction.atomic
def replace_webhook(by: Membership, url: str) -> str:
    check_permission(by, Permission.MANAGE_MONEY)
    # A new row with each secret: the seal is bound to the row's key.
    AlertWebhook.objects.filter(team=by.team).delete()
    hook, secret = AlertWebhook(team=by.team, url=url), webhook.generate_webhook_secret()
    webhook.encrypt_webhook_secret(hook, secret)
    hook.save(force_insert=True)
    record_audit_event(by, AuditAction.WEBHOOK_SET, hook.pk, after={"host": hook.host})
    return secret


@transaction.atomic
@append_audit_rows_last()
def remove_webhook(*, by: Membership) -> None:
    check_permission(by, Permission.MANAGE_MONEY)
    for hook in AlertWebhook.objects.filter(team=by.team):
        record_audit_event(by, AuditAction.WEBHOOK_REMOVE, hook.pk, before={"host": hook.host})
        hook.delete()


@transaction.atomic
def send_test_alert(*, by: Membership) -> list[Delivery]:
    """An alert that says it is a test, on every way there is; the e-mail to the sender alone.

    Raises `TooManyAttempts`.
    """
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


def mark_alerts_read(*, by: Membership) -> None:
    """Everything told up to now. Nobody else's business, so no audit row."""
    Membership.objects.filter(pk=by.pk).update(alerts_read_at=timezone.now())


def save_alert_rule(rule: AlertRule) -> None:
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError:
        raise Refusal(DUPLICATE_THRESHOLD, field=f"threshold-{rule.pk}") from None


def alert_rule_version(rule: AlertRule | AlertRuleChange) -> str:
    """How a rule is, for a form to tell whether another writer changed it: "1000/110"."""
    boxes = (rule.active, rule.by_email, rule.by_webhook)
    return f"{rule.threshold.normalize():f}/{''.join(str(int(box)) for box in boxes)}"


def describe_alert_rule(rule: AlertRule) -> str:
    """ "the balance from 2,000, on, by e-mail and webhook"."""
    start = f" from {format_credits(rule.threshold)}" if rule.threshold else ""
    named = (("e-mail", rule.by_email), ("webhook", rule.by_webhook))
    ways = " and ".join(name for name, on in named if on)
    told = f", by {ways}" if ways else ", in the portal only"
    return f"{rule.get_kind_display()}{start}, {'on' if rule.active else 'off'}{told}"


def alert_rule_audit_details(rule: AlertRule) -> dict[str, object]:
    told: dict[str, object] = {name: getattr(rule, name) for name in RULE_FIELDS}
    return {**told, "threshold": f"{rule.threshold.normalize():f}"}
