"""A refund that does not come is reported to those who manage money, and its clip says to whom."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal

import pytest
from django.core import mail
from django.utils import timezone

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.alerts.evaluate import evaluate_team
from dashboard.library.queries.video_page import VideoPage, load_video_page
from dashboard.models import AlertEvent, AlertKind, AlertRule, Membership, Team
from proxyapi.models import Charge, ChargeState, JobKind, JobState, Token
from proxyapi.operations import REFUNDABLE_OPERATIONS
from tests.dashboard.alerts.conftest import NOON
from tests.factories import ChargeFactory, JobFactory

Evaluate = Callable[..., list[AlertEvent]]


@pytest.fixture
def owed(token: Token) -> Charge:
    """A clip of Priya's that failed at noon; 98 credits are owed."""
    job = JobFactory.create(
        account=token.account,
        token=token,
        member=token.owner,
        kind=JobKind.CLIP,
        state=JobState.FAILED,
        remote_id="88",
        title="A lighthouse keeper climbs the stair",
        failure_message="Provider timed out.",
        finished_at=NOON,
    )
    return ChargeFactory.create(
        job=job,
        operation=REFUNDABLE_OPERATIONS[0],
        state=ChargeState.CONFIRMED,
        cost=Decimal(98),
        sent_at=NOON,
        refund_owed_at=NOON,
    )


@pytest.fixture
def evaluate(northlight: Team, mira: Membership, thea: Membership, owed: Charge) -> Evaluate:
    """Evaluate the default rules, deliver what is due, and return all alerts of refunds."""
    create_default_rules(northlight)

    def evaluate_and_deliver(*, deliver: bool = True) -> list[AlertEvent]:
        deliveries = evaluate_team(northlight.pk)
        for delivery in deliveries if deliver else ():
            attempt_delivery(delivery.pk)
        return list(AlertEvent.objects.filter(rule__kind=AlertKind.REFUND_OWED))

    return evaluate_and_deliver


def page_of(charge: Charge) -> VideoPage:
    assert charge.job is not None
    return load_video_page(charge.job)


def test_a_refund_is_reported_once_after_half_an_hour_and_again_each_week(
    evaluate: Evaluate, time_machine
) -> None:
    time_machine.shift(timedelta(minutes=29, seconds=59))
    assert evaluate() == []
    time_machine.shift(1)
    (event,) = evaluate()
    assert event.title == "The service owes 98 cr back"
    assert event.text.startswith(
        "The clip “A lighthouse keeper climbs the stair” failed at 12:00. The service refunds it"
    )
    assert event.url.endswith("#refunds")
    assert (event.member, event.for_money) == (None, True)
    assert len(evaluate()) == 1
    time_machine.shift(timedelta(days=7))
    assert len(evaluate()) == 2


def test_a_refund_that_came_is_not_reported(evaluate: Evaluate, owed: Charge, time_machine) -> None:
    time_machine.shift(timedelta(minutes=42))
    Charge.objects.filter(pk=owed.pk).update(refunded_at=timezone.now())
    assert evaluate() == []
    assert page_of(owed).card.status_text.endswith("All 98 cr came back at 12:42.")


def test_the_clip_names_those_who_got_the_alert(
    evaluate: Evaluate, owed: Charge, time_machine
) -> None:
    owing = "Refund owed 98 cr, not seen in the ledger yet,"
    time_machine.shift(timedelta(minutes=6, seconds=20))
    evaluate()
    assert page_of(owed).card.status_text == f"“Provider timed out.” {owing} 6 min."
    time_machine.shift(timedelta(minutes=36))
    evaluate()
    assert {to for message in mail.outbox for to in message.to} == {
        "mira@northlight.example",
        "thea@northlight.example",
    }
    page = page_of(owed)
    told = "42 min. Mira and Thea were told."
    assert page.card.status_text == f"“Provider timed out.” {owing} {told}"
    assert page.status_detail == (
        "“Provider timed out.” 98 cr were charged; the service owes them back, not seen in the "
        f"ledger yet, {told}"
    )
    assert page.history_steps[-1].note == f"{owing} {told}"


def test_nobody_is_named_before_the_mail_server_took_the_email(
    evaluate: Evaluate, owed: Charge, thea: Membership, time_machine
) -> None:
    time_machine.shift(timedelta(minutes=42))
    (event,) = evaluate(deliver=False)
    assert page_of(owed).card.status_text.endswith("42 min. An alert was raised at 12:42.")
    attempt_delivery(event.deliveries.get(address=thea.user.email).pk)
    assert page_of(owed).card.status_text.endswith("42 min. Thea was told.")


def test_without_a_rule_nobody_is_said_to_be_told(
    evaluate: Evaluate, owed: Charge, time_machine
) -> None:
    AlertRule.objects.filter(kind=AlertKind.REFUND_OWED).update(active=False)
    time_machine.shift(timedelta(hours=3, minutes=5, seconds=7))
    assert evaluate() == []
    assert page_of(owed).card.status_text.endswith("not seen in the ledger yet, 3 h 05 min.")
