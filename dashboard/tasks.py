"""Celery tasks of the site: one to three lines. They take ids, may run twice and may be lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import task_postrun
from django.utils import timezone

from dashboard.actions.tokens import note_shut
from dashboard.alerting import foresight
from dashboard.alerting.deliveries import deliver, mend
from dashboard.alerting.evaluate import evaluate
from dashboard.alerting.pruning import prune
from dashboard.models import Delivery, Team
from dashboard.sign_in import history, mails
from dashboard.sign_in.sessions import SessionStore
from proxyapi.tasks import dispatch_charge_task, dispatch_slow_charge_task, reconcile_charge_task


@shared_task(expires=30)
def evaluate_alerts(team_id: str) -> None:
    for delivery in evaluate(UUID(team_id)):
        deliver_alert.delay(str(delivery.pk))
    note_shut(UUID(team_id))


@shared_task
def evaluate_all_alerts() -> None:
    """Every half minute: balances, top-ups, budgets and doubts change without anybody's deed."""
    for team_id in Team.objects.values_list("pk", flat=True):
        evaluate_alerts.delay(str(team_id))


@shared_task
def evaluate_forecasts() -> None:
    """Every quarter of an hour: a forecast moves slowly and takes a while."""
    for team_id in Team.objects.values_list("pk", flat=True):
        foresee_alerts.delay(str(team_id))


@shared_task(expires=900)
def foresee_alerts(team_id: str) -> None:
    for delivery in evaluate(UUID(team_id), foresight.LOOKS):
        deliver_alert.delay(str(delivery.pk))


@shared_task(expires=30)
def deliver_alert(delivery_id: str) -> None:
    deliver(UUID(delivery_id))


@shared_task
def deliver_due_alerts() -> None:
    mend()
    for delivery_id in Delivery.objects.due(timezone.now()).values_list("pk", flat=True)[:200]:
        deliver_alert.delay(str(delivery_id))


@shared_task
def prune_alerts() -> None:
    """Four times a day: what is older than ALERTS_KEPT_DAYS, and is over."""
    prune()


@shared_task
def prune_sign_ins() -> None:
    """Once a day: sessions that ended, and the record of sign-ins after SIGN_INS_KEPT_DAYS."""
    SessionStore.clear_expired()
    history.prune()


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5, expires=3600)
def send_password_reset(address: str) -> None:
    """To the person with this address, if there is one; the argument tells of nobody."""
    mails.send_reset_link(address)


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5)
def send_password_changed(user_id: int, changed_at: str, client_ip: str) -> None:
    mails.send_password_changed(user_id, datetime.fromisoformat(changed_at), client_ip)


@task_postrun.connect(sender=dispatch_charge_task)
@task_postrun.connect(sender=dispatch_slow_charge_task)
@task_postrun.connect(sender=reconcile_charge_task)
def after_a_charge(*, args: tuple[str, ...], **_: Any) -> None:
    """A charge was sent or settled: its team's thresholds are looked at."""
    for team_id in Team.objects.filter(vault__charges=UUID(args[0])).values_list("pk", flat=True):
        evaluate_alerts.delay(str(team_id))
