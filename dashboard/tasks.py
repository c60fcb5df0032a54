"""Celery tasks of the site, one to three lines each. They take ids, may run twice and may be
lost."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from celery import shared_task
from celery.signals import task_postrun
from django.utils import timezone

from dashboard.account import change_mails, password_mails, sign_in_history
from dashboard.account.sessions import prune_sessions
from dashboard.agents.endpoints import prune_agent_tokens
from dashboard.alerts.delivery.api_events import (
    schedule_event_deliveries,
    tenants_with_new_events,
)
from dashboard.alerts.delivery.queue import attempt_delivery, repair_due_times
from dashboard.alerts.evaluate import evaluate_team
from dashboard.alerts.member_notifications import notify_members
from dashboard.alerts.pruning import prune_alert_events
from dashboard.audit.actions import run_chain_check
from dashboard.batches.runner import advance_batch as advance_batch_now
from dashboard.batches.start_times import start_when_due
from dashboard.budgets.actions import end_due_raises
from dashboard.ledger.report_actions import send_due_reports
from dashboard.members.actions.invitation_mail import mail_invitation
from dashboard.models import (
    Batch,
    Delivery,
    Invitation,
    KeyRotation,
    Membership,
    PlannedRender,
    Series,
    Team,
)
from dashboard.operations.key_rotation import expired_lease, rotate_next_batch
from dashboard.series.actions import run_series as run_series_now
from dashboard.studio import planned_renders
from dashboard.studio.presets.actions.comparison import compare_due_presets
from dashboard.tokens.actions import record_undecryptable_tokens
from proxyapi.gateway.idempotency import prune_stored_answers
from proxyapi.gateway.quotes import prune_quotes
from proxyapi.gateway.request_log import prune_events, prune_request_log
from proxyapi.tasks import dispatch_charge_task, quote_draft_task, reconcile_charge_task


@shared_task(expires=30)
def evaluate_alerts(team_id: str) -> None:
    for delivery in evaluate_team(UUID(team_id)):
        deliver_alert.delay(str(delivery.pk))
    notify_members(UUID(team_id))
    record_undecryptable_tokens(UUID(team_id))


@shared_task
def evaluate_all_alerts() -> None:
    """Runs every 30 seconds: balances, top-ups, budgets and unknown charges change without a
    request."""
    for team_id in Team.objects.values_list("pk", flat=True):
        evaluate_alerts.delay(str(team_id))


@shared_task
def evaluate_all_forecasts() -> None:
    """Runs every 15 minutes: a forecast changes slowly and takes long to calculate."""
    for team_id in Team.objects.values_list("pk", flat=True):
        evaluate_forecast_alerts.delay(str(team_id))


@shared_task(expires=900)
def evaluate_forecast_alerts(team_id: str) -> None:
    for delivery in evaluate_team(UUID(team_id), slow=True):
        deliver_alert.delay(str(delivery.pk))


@shared_task(expires=30)
def deliver_alert(delivery_id: str) -> None:
    attempt_delivery(UUID(delivery_id))


@shared_task(expires=30)
def send_events(tenant_id: str) -> None:
    for delivery in schedule_event_deliveries(UUID(tenant_id)):
        deliver_alert.delay(str(delivery.pk))


@shared_task
def deliver_due_alerts() -> None:
    """Runs every 10 seconds."""
    repair_due_times()
    for tenant_id in tenants_with_new_events():
        send_events.delay(str(tenant_id))
    for delivery_id in Delivery.objects.due(timezone.now()).values_list("pk", flat=True)[:200]:
        deliver_alert.delay(str(delivery_id))


@shared_task
def end_due_budget_raises() -> None:
    """Runs every 30 seconds: the limits fell back before, at the time itself."""
    end_due_raises()


@shared_task
def send_all_monthly_reports() -> None:
    """Runs every 15 minutes; a team's report is sent once its month has ended and its ledger was
    read."""
    recipients = Membership.objects.exclude(monthly_report_since=None)
    for team_id in recipients.order_by("team").values_list("team", flat=True).distinct():
        send_monthly_reports_of_team.delay(str(team_id))


@shared_task(expires=900)
def send_monthly_reports_of_team(team_id: str) -> None:
    send_due_reports(UUID(team_id))


@shared_task
def compare_all_presets() -> None:
    """Runs every 15 minutes; a team's presets are compared once after its six o'clock."""
    for team_id in (
        Team.objects.filter(presets__isnull=False).values_list("pk", flat=True).distinct()
    ):
        compare_presets_of_team.delay(str(team_id))


@shared_task(expires=900)
def compare_presets_of_team(team_id: str) -> None:
    compare_due_presets(UUID(team_id))


@shared_task
def verify_all_audit_chains() -> None:
    """Runs every 30 minutes: the audit page shows the result."""
    for team_id in Team.objects.values_list("pk", flat=True):
        verify_audit_chain.delay(str(team_id))


@shared_task(expires=1800)
def verify_audit_chain(team_id: str) -> None:
    run_chain_check(UUID(team_id))


@shared_task(expires=120)
def rotate_keys(rotation_id: str) -> None:
    """One batch for each task, so that a restart loses at most one."""
    if rotate_next_batch(int(rotation_id)):
        rotate_keys.delay(rotation_id)


@shared_task
def sweep_key_rotations() -> None:
    """Runs every 30 seconds: rotations whose worker died, or whose task was never enqueued."""
    for rotation_id in KeyRotation.objects.filter(expired_lease()).values_list("pk", flat=True):
        rotate_keys.delay(str(rotation_id))


@shared_task
def audit_sign_ins() -> None:
    """Runs every 15 seconds; also after a lost run, the sign-ins of all members are recorded."""
    sign_in_history.append_sign_ins_to_audit()


@shared_task
def prune_alerts() -> None:
    """Runs four times a day; deletes ended alerts that are older than `ALERT_RETENTION_DAYS`."""
    prune_alert_events()


@shared_task
def prune_sign_ins() -> None:
    """Runs daily; deletes expired sessions and tokens of agents, and sign-in events after
    `SIGN_IN_RETENTION_DAYS`."""
    prune_sessions()
    prune_agent_tokens()
    sign_in_history.prune_sign_in_events()


@shared_task
def prune_gateway_requests() -> None:
    """Runs four times a day; deletes logged requests after `GATEWAY_LOG_DAYS`, events after
    `GATEWAY_EVENT_DAYS`, and quotes and the answers that are kept for idempotency keys after two
    days."""
    prune_request_log()
    prune_events()
    prune_stored_answers()
    prune_quotes()


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5)
def send_password_reset(address: str) -> None:
    """Mail a reset link if a user has this address. The argument does not reveal whether one
    has."""
    password_mails.send_reset_link(address)


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5)
def send_password_changed(user_id: int, changed_at: str, client_ip: str) -> None:
    password_mails.send_password_changed_mail(
        user_id, datetime.fromisoformat(changed_at), client_ip
    )


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5)
def send_account_change(
    user_id: int, change: str, detail: str, address: str, changed_at: str, client_ip: str
) -> None:
    change_mails.send_account_change_mail(
        user_id, change, detail, address, datetime.fromisoformat(changed_at), client_ip
    )


@shared_task(autoretry_for=(OSError,), retry_backoff=10, max_retries=5)
def send_email_confirmation(user_id: int) -> None:
    change_mails.send_confirmation_link(user_id)


@shared_task(expires=60)
def send_invitation(invitation_id: str) -> None:
    mail_invitation(UUID(invitation_id))


@shared_task
def send_due_invitations() -> None:
    """Runs every 30 seconds: mails that were not accepted by the mail server, or never enqueued."""
    for invitation_id in Invitation.objects.due(timezone.now()).values_list("pk", flat=True)[:200]:
        send_invitation.delay(str(invitation_id))


@task_postrun.connect(sender=dispatch_charge_task)
@task_postrun.connect(sender=reconcile_charge_task)
def evaluate_alerts_after_charge(*, args: tuple[str, ...], **_: Any) -> None:
    """Evaluate the alerts of the charge's team after it was sent or settled."""
    for team_id in Team.objects.filter(tenant__charges=UUID(args[0])).values_list("pk", flat=True):
        evaluate_alerts.delay(str(team_id))


@shared_task(expires=60)
def continue_planned_render(job_id: str) -> None:
    planned_renders.continue_planned_render(UUID(job_id))


@shared_task
def sweep_planned_renders() -> None:
    """Runs every 10 seconds: plans whose task was lost, whose script failed, whose time has come,
    or that expired."""
    for job_id in PlannedRender.objects.due().values_list("pk", flat=True):
        continue_planned_render.delay(str(job_id))


@task_postrun.connect(sender=quote_draft_task)
def continue_planned_render_after_price(*, args: tuple[str, ...], **_: Any) -> None:
    """Send a planned render as soon as its price may have arrived."""
    for job_id in (
        PlannedRender.objects.active().filter(pk=UUID(args[0])).values_list("pk", flat=True)
    ):
        continue_planned_render.delay(str(job_id))


@shared_task(expires=60)
def advance_batch(batch_id: str) -> None:
    advance_batch_now(UUID(batch_id))


@shared_task(expires=60)
def start_batch(batch_id: str) -> None:
    start_when_due(UUID(batch_id))


@shared_task(expires=60)
def run_series(series_id: str) -> None:
    run_series_now(UUID(series_id))


@shared_task
def sweep_series() -> None:
    """Runs every 15 seconds: series whose time has come."""
    for series_id in Series.objects.due().values_list("pk", flat=True):
        run_series.delay(str(series_id))


@shared_task
def sweep_batches() -> None:
    """Runs every 5 seconds: what a batch waits for ends without a task of its own."""
    for batch_id in Batch.objects.due_to_start().values_list("pk", flat=True):
        start_batch.delay(str(batch_id))
    for batch_id in Batch.objects.in_progress().values_list("pk", flat=True):
        advance_batch.delay(str(batch_id))
