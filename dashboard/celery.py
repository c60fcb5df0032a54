"""The Celery app: a message only says that a row is due; the database row is the job (rule 7).

Six queues by what may wait (docs/decisions/0013-slow-work-has-its-own-queue.md): `charges` sends
what charges, and waits for nothing; `work`, the default, decides and sweeps and calls nobody;
`settlement` has what a charge or a person waits for, prices and lost answers; `polls` brings pages
up to date; `slow` mirrors, refreshes and computes; `post` calls mail servers and webhooks. All but
`work` are served by processes with many threads, because such tasks mostly wait.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.signals import beat_init, before_task_publish, heartbeat_sent, worker_init
from django.conf import settings

from dashboard.monitoring.heartbeat_file import touch_health_file
from dashboard.monitoring.queues import QUEUES, stamp_message
from dashboard.startup_checks import run_startup_checks

# Tasks may run twice or be lost: they take ids, and a tick finds whatever was not enqueued.
VISIBILITY_TIMEOUT_S = 600
TLS_OPTIONS = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
TASKS_OF_QUEUES = {
    "charges": ("proxyapi.tasks.dispatch_charge_task", "proxyapi.tasks.save_top_up_task"),
    "settlement": ("proxyapi.tasks.reconcile_charge_task", "proxyapi.tasks.quote_draft_task"),
    "polls": (
        "proxyapi.tasks.poll_job_task",
        "proxyapi.tasks.read_job_parts_task",
        "proxyapi.tasks.read_genres_task",
        "proxyapi.tasks.read_voice_slots_task",
        "dashboard.tasks.evaluate_alerts",
        "dashboard.tasks.send_events",
    ),
    "slow": (
        "proxyapi.tasks.read_page_task",
        "proxyapi.tasks.refresh_account_task",
        "proxyapi.tasks.refresh_ideas_task",
        "proxyapi.tasks.refresh_top_up_task",
        "proxyapi.tasks.sync_ledger_task",
        "proxyapi.tasks.recount_days_task",
        "proxyapi.tasks.count_service_quarters",
        "proxyapi.tasks.prune_calls",
        "proxyapi.tasks.prune_charge_log",
        "proxyapi.tasks.prune_stored_files_task",
        "dashboard.tasks.evaluate_forecast_alerts",
        "dashboard.tasks.compare_presets_of_team",
        "dashboard.tasks.send_monthly_reports_of_team",
        "dashboard.tasks.verify_audit_chain",
        "dashboard.tasks.prune_alerts",
        "dashboard.tasks.rotate_keys",
        "dashboard.tasks.prune_gateway_requests",
        "dashboard.tasks.prune_sign_ins",
    ),
    "post": (
        "dashboard.tasks.deliver_alert",
        "dashboard.tasks.send_invitation",
        "dashboard.tasks.send_account_change",
        "dashboard.tasks.send_email_confirmation",
        "dashboard.tasks.send_password_changed",
        "dashboard.tasks.send_password_reset",
    ),
}
# Of an entry that runs as soon as beat starts, not an interval later. Readiness waits for the tick.
DUE_AT_ONCE = {"last_run_at": datetime(2026, 1, 1, tzinfo=UTC)}

# `celery -A dashboard` starts here, without the default that manage.py sets.
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.settings")


def beat_entry(seconds: float, task: str, expires: float | None = None) -> dict[str, Any]:
    """A row of beat's schedule; `seconds` is the interval. A message expires before the next one is
    sent, so that a day without workers does not leave a day of messages."""
    return {"task": task, "schedule": seconds, "options": {"expires": expires or seconds}}


def ping_entry(queue: str) -> dict[str, Any]:
    """A message each 5 s, so that a queue without a worker shows by the age of its oldest one."""
    entry = beat_entry(5.0, "proxyapi.tasks.answer_ping")
    return entry | {"options": entry["options"] | {"queue": queue}}


app = Celery("reelroom")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    # Celery's default accepts any certificate; options in the URL override these.
    broker_use_ssl=TLS_OPTIONS if settings.CELERY_BROKER_URL.startswith("rediss://") else None,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue="work",
    task_routes={
        task: {"queue": queue} for queue, tasks in TASKS_OF_QUEUES.items() for task in tasks
    },
    task_time_limit=540,
    task_soft_time_limit=500,
    worker_consumer="dashboard.celery_consumer:Consumer",
    worker_prefetch_multiplier=1,
    worker_max_tasks_per_child=500,
    # A charging call is never interrupted.
    worker_cancel_long_running_tasks_on_connection_loss=False,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={
        "visibility_timeout": VISIBILITY_TIMEOUT_S,
        "unacked_restore_interval": 5,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 2,
        "socket_timeout": 5,
        # A publish to an unreachable broker fails at once; worker and beat have their own retries.
        "max_retries": 0,
        "health_check_interval": 10,
        "global_keyprefix": "reelroom:",
    },
    beat_scheduler="dashboard.celery_beat.ResilientScheduler",
    beat_max_loop_interval=1,  # the tick is due every second
    redbeat_redis_url=settings.REDIS_URL,
    redbeat_key_prefix="reelroom:beat:",
    redbeat_lock_timeout=25,
    redbeat_redis_options={"socket_connect_timeout": 5, "health_check_interval": 10},
    beat_schedule={
        **{f"ping-{queue}": ping_entry(queue) for queue in QUEUES},
        "tick": beat_entry(1.0, "proxyapi.tasks.tick", expires=5) | DUE_AT_ONCE,
        "refresh": beat_entry(60.0, "proxyapi.tasks.refresh_due_accounts"),
        "service-quarters": beat_entry(60.0, "proxyapi.tasks.count_service_quarters"),
        "restored": beat_entry(10.0, "proxyapi.tasks.check_database_restored"),
        "top-ups": beat_entry(15.0, "proxyapi.tasks.sweep_top_ups"),
        "ledgers": beat_entry(5.0, "proxyapi.tasks.sync_due_ledgers"),
        "days": beat_entry(60.0, "proxyapi.tasks.sweep_moved_days"),
        "alerts": beat_entry(30.0, "dashboard.tasks.evaluate_all_alerts"),
        "budget-raises": beat_entry(30.0, "dashboard.tasks.end_due_budget_raises"),
        "forecasts": beat_entry(900.0, "dashboard.tasks.evaluate_all_forecasts"),
        "monthly-reports": beat_entry(900.0, "dashboard.tasks.send_all_monthly_reports"),
        "presets": beat_entry(900.0, "dashboard.tasks.compare_all_presets"),
        "audit-chains": beat_entry(1800.0, "dashboard.tasks.verify_all_audit_chains"),
        "key-rotations": beat_entry(30.0, "dashboard.tasks.sweep_key_rotations"),
        "planned-renders": beat_entry(10.0, "dashboard.tasks.sweep_planned_renders"),
        "series": beat_entry(15.0, "dashboard.tasks.sweep_series"),
        "batches": beat_entry(5.0, "dashboard.tasks.sweep_batches"),
        "audited-sign-ins": beat_entry(15.0, "dashboard.tasks.audit_sign_ins"),
        "deliveries": beat_entry(10.0, "dashboard.tasks.deliver_due_alerts"),
        "invitations": beat_entry(30.0, "dashboard.tasks.send_due_invitations"),
        "old-calls": beat_entry(900.0, "proxyapi.tasks.prune_calls"),
        "old-charge-log": beat_entry(21_600.0, "proxyapi.tasks.prune_charge_log"),
        "old-stored-files": beat_entry(21_600.0, "proxyapi.tasks.prune_stored_files_task"),
        "old-alerts": beat_entry(21_600.0, "dashboard.tasks.prune_alerts"),
        "old-requests": beat_entry(21_600.0, "dashboard.tasks.prune_gateway_requests"),
        "old-sign-ins": beat_entry(86_400.0, "dashboard.tasks.prune_sign_ins"),
    },
)
app.autodiscover_tasks(["proxyapi", "dashboard"])
# Before the first Redis command: otherwise a beat would wait for its lock first.
worker_init.connect(run_startup_checks)
beat_init.connect(run_startup_checks)
heartbeat_sent.connect(touch_health_file)
before_task_publish.connect(stamp_message)
