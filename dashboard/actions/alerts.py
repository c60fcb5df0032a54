"""Alerts: which thresholds are watched, where they are told, a test, and what was read."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard import doorbell
from dashboard.access import check
from dashboard.actions.audit import note
from dashboard.alerting import webhook
from dashboard.alerting.deliveries import schedule
from dashboard.alerting.errors import DeliveryFailed
from dashboard.models import AlertEvent, AlertRule, Delivery, Membership, Watch, Webhook
from dashboard.roles import Permission
from proxyapi import throttle
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData, format_credits

TWICE = "There is this threshold already."
CHANGED = "Somebody changed this meanwhile; it is now: {now}. Save again to set what is below."
TESTS_OF_MEMBER, TESTS_OF_TEAM = 3, 6  # a minute
TOO_MANY = "Too many tests were sent within a minute. Nothing was sent. Try again in {wait} s."
WAYS = ("threshold", "active", "by_email", "by_webhook")


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a rule should be, and how it was drawn, as `in_a_word` says it."""

    id: uuid.UUID
    threshold: Decimal
    active: bool
    by_email: bool
    by_webhook: bool
    drawn: str

    @property
    def differs(self) -> bool:
        """Whether somebody chose it so in the form."""
        return in_a_word(self) != self.drawn


@transaction.atomic
def set_rules(*, by: Membership, wanted: Iterable[Wanted]) -> int:
    """Change those that differ from what was drawn; answers how many.

    Raises `Stale` when somebody else changed one of these meanwhile, `Refusal` for a threshold
    that is there twice.
    """
    check(by, Permission.MANAGE_MONEY)
    rows = AlertRule.objects.select_for_update().filter(team=by.team).order_by("pk")
    rules = {rule.pk: rule for rule in rows}
    meant = [(rules[one.id], one) for one in wanted if one.id in rules and one.differs]
    meant = [(rule, one) for rule, one in meant if in_a_word(rule) != in_a_word(one)]
    if lost := [in_words(rule) for rule, one in meant if in_a_word(rule) != one.drawn]:
        raise StaleData(CHANGED.format(now="; ".join(lost)))
    for rule, one in in_turn(meant):
        before = said(rule)
        for name in WAYS:
            setattr(rule, name, getattr(one, name))
        save(rule)
        note(by, "alert.change", rule.pk, watch=rule.watch, before=before, after=said(rule))
    if meant:
        doorbell.ring(doorbell.EVALUATE, by.team_id)
    return len(meant)


def in_turn(meant: list[tuple[AlertRule, Wanted]]) -> Iterator[tuple[AlertRule, Wanted]]:
    """So that none takes a threshold that another one is about to leave."""
    left = list(meant)
    while left:
        held = {(rule.watch, rule.threshold): rule for rule, _ in left}
        free = (it for it in left if held.get((it[0].watch, it[1].threshold), it[0]) is it[0])
        turn = next(free, left[0])
        left.remove(turn)
        yield turn


@transaction.atomic
def add_rule(*, by: Membership, watch: Watch, threshold: Decimal) -> AlertRule:
    check(by, Permission.MANAGE_MONEY)
    rule = AlertRule(team=by.team, watch=watch, threshold=threshold)
    save(rule)
    note(by, "alert.add", rule.pk, watch=rule.watch, before={}, after=said(rule))
    doorbell.ring(doorbell.EVALUATE, by.team_id)
    return rule


def set_webhook(*, by: Membership, url: str) -> str:
    """Post alerts there from now on; answers the secret that signs them, this once.

    Raises `Refusal` for an address that would not be connected to. Its name is looked up before the
    transaction, which on SQLite keeps everybody else from writing.
    """
    try:
        webhook.judged(webhook.parsed(url))
    except DeliveryFailed as error:
        raise Refusal(error.sentence, field="url") from None
    return put_webhook(by, url)


@transaction.atomic
def put_webhook(by: Membership, url: str) -> str:
    check(by, Permission.MANAGE_MONEY)
    # A new row with each secret: the seal is bound to the row's key.
    Webhook.objects.filter(team=by.team).delete()
    hook, secret = Webhook(team=by.team, url=url), webhook.new_secret()
    webhook.seal_in(hook, secret)
    hook.save(force_insert=True)
    note(by, "webhook.set", hook.pk, host=hook.host)
    return secret


@transaction.atomic
def remove_webhook(*, by: Membership) -> None:
    check(by, Permission.MANAGE_MONEY)
    for hook in Webhook.objects.filter(team=by.team):
        note(by, "webhook.remove", hook.pk, host=hook.host)
        hook.delete()


@transaction.atomic
def send_test(*, by: Membership) -> list[Delivery]:
    """An alert that says it is a test, on every way there is; the e-mail to the sender alone.

    Raises `TooManyTries`.
    """
    check(by, Permission.MANAGE_MONEY)
    limits = {
        f"alert-tests-of-member:{by.user_id}": TESTS_OF_MEMBER,
        f"alert-tests-of-team:{by.team_id}": TESTS_OF_TEAM,
    }
    throttle.count_attempt(limits, TOO_MANY)
    event = AlertEvent.objects.create(
        team=by.team,
        subject="test",
        period=timezone.now().isoformat(),
        state="info",
        title=f"{by.user.first_name} tests the alerts",
        text="Nothing happened. This is how an alert arrives.",
        url="/alerts/",
    )
    rows = schedule(event, to=[by.user])
    note(by, "alert.test", event.pk, ways=[row.channel for row in rows])
    publish_event(by.team.vault_id, EventType.ALERT, event.pk)
    for row in rows:
        doorbell.ring(doorbell.DELIVER, row.pk)
    return rows


def mark_read(*, by: Membership) -> None:
    """Everything told up to now. Nobody else's business, so no audit row."""
    Membership.objects.filter(pk=by.pk).update(notices_read_at=timezone.now())


def save(rule: AlertRule) -> None:
    try:
        with transaction.atomic():
            rule.save()
    except IntegrityError:
        raise Refusal(TWICE, field=f"threshold-{rule.pk}") from None


def in_a_word(rule: AlertRule | Wanted) -> str:
    """How a rule is, for a form to tell whether another writer changed it: "1000/110"."""
    boxes = (rule.active, rule.by_email, rule.by_webhook)
    return f"{rule.threshold.normalize():f}/{''.join(str(int(box)) for box in boxes)}"


def in_words(rule: AlertRule) -> str:
    """ "the balance from 2,000, on, by e-mail and webhook"."""
    start = f" from {format_credits(rule.threshold)}" if rule.threshold else ""
    named = (("e-mail", rule.by_email), ("webhook", rule.by_webhook))
    ways = " and ".join(name for name, on in named if on)
    told = f", by {ways}" if ways else ", in the portal alone"
    return f"{rule.get_watch_display()}{start}, {'on' if rule.active else 'off'}{told}"


def said(rule: AlertRule) -> dict[str, object]:
    told: dict[str, object] = {name: getattr(rule, name) for name in WAYS}
    return {**told, "threshold": f"{rule.threshold.normalize():f}"}
