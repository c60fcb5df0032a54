"""Six queues: what moves money is never behind a read, nor what people wait for behind others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from uuid import uuid4

import yaml
from django.conf import settings

from dashboard.celery import app
from dashboard.monitoring.queues import QUEUES
from dashboard.shared import enqueue
from dashboard.up import __main__ as up
from dashboard.up.install import ROOT
from dashboard.up.install_paths import Installation
from proxyapi.redis_client import connect_redis
from proxyapi.upstream import client

OURS = ("proxyapi.tasks.", "dashboard.tasks.")
WAYS = {
    # What is sent and may cost credits, fast or slow.
    "charges": {"dispatch_charge_task", "save_top_up_task"},
    # What a charge waits for.
    "settlement": {"quote_draft_task", "reconcile_charge_task"},
    # What pages show.
    "polls": {
        "evaluate_alerts",
        "poll_job_task",
        "read_genres_task",
        "read_job_parts_task",
        "read_voice_slots_task",
        "send_events",
    },
    "post": {
        "deliver_alert",
        "send_account_change",
        "send_email_confirmation",
        "send_invitation",
        "send_password_changed",
        "send_password_reset",
    },
    "slow": {
        "compare_presets_of_team",
        "count_service_quarters",
        "evaluate_forecast_alerts",
        "prune_alerts",
        "prune_calls",
        "prune_charge_log",
        "prune_gateway_requests",
        "prune_sign_ins",
        "prune_stored_files_task",
        "read_page_task",
        "recount_days_task",
        "refresh_account_task",
        "refresh_ideas_task",
        "refresh_top_up_task",
        "rotate_keys",
        "send_monthly_reports_of_team",
        "sync_ledger_task",
        "verify_audit_chain",
    },
    # What decides and finds; it calls no other server. The pings name their queue themselves.
    "work": {
        "advance_batch",
        "answer_ping",
        "audit_sign_ins",
        "check_database_restored",
        "compare_all_presets",
        "continue_planned_render",
        "deliver_due_alerts",
        "end_due_budget_raises",
        "evaluate_all_alerts",
        "evaluate_all_forecasts",
        "refresh_due_accounts",
        "send_all_monthly_reports",
        "send_due_invitations",
        "run_series",
        "start_batch",
        "sweep_batches",
        "sweep_series",
        "sweep_key_rotations",
        "sweep_moved_days",
        "sweep_planned_renders",
        "sweep_top_ups",
        "sync_due_ledgers",
        "tick",
        "verify_all_audit_chains",
    },
}


def test_every_task_has_its_way() -> None:
    """A new one is put into a row here: does it wait for others, and does somebody wait for it?"""
    app.loader.import_default_modules()
    found: dict[str, set[str]] = {queue: set() for queue in WAYS}
    for name in app.tasks:
        if name.startswith(OURS):
            queue = app.amqp.router.route({}, name)["queue"].name
            found[queue].add(name.rpartition(".")[2])
    assert found == WAYS


def queues_of(command: Sequence[str]) -> set[str]:
    return set(command[command.index("--queues") + 1].split(","))


def composed_workers() -> dict[str, list[str]]:
    services = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]
    commands = {name: str(service.get("command", "")).split() for name, service in services.items()}
    return {name: command for name, command in commands.items() if "--queues" in command}


def test_every_queue_has_one_worker_here_and_in_production() -> None:
    """And what decides, and what charges, has one of its own."""
    here = {name: queues_of(command) for name, command in up.WORKERS.items()}
    there = {name: queues_of(command) for name, command in composed_workers().items()}
    alone = {"worker": {"work"}, "charges": {"charges"}}
    assert here == alone | {"slow": {"settlement", "polls", "post", "slow"}}
    reads = {"reads": {"settlement", "polls"}, "slow": {"slow"}, "post": {"post"}}
    assert there == alone | reads
    for served in (here, there):
        assert sorted(queue for queues in served.values() for queue in queues) == sorted(QUEUES)
    assert set(QUEUES) == set(WAYS)


def test_each_queue_is_pinged() -> None:
    rows = app.conf.beat_schedule.values()
    pinged = [row["options"]["queue"] for row in rows if row["task"].endswith("answer_ping")]
    assert sorted(pinged) == sorted(QUEUES)


def test_celery_finds_the_settings_by_itself(tmp_path) -> None:
    """In production nobody names them: `make run` and manage.py do."""
    place = Installation.from_environ({"REELROOM_VAR": str(tmp_path)})
    place.ensure_secrets()
    place.write_address_file()
    environ = {"PATH": os.environ["PATH"], "REELROOM_VAR": str(tmp_path)}

    command = [sys.executable, "-m", "celery", "-A", "dashboard", "inspect", "--help"]
    ended = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, check=False)

    assert ended.returncode == 0, ended.stderr.decode()


def test_fifty_slow_calls_leave_threads_and_each_thread_has_a_connection() -> None:
    """Its task's, or, while a charge is sent, that of its heartbeat."""
    for workers in (up.WORKERS, composed_workers()):
        command = workers["charges"]
        threads = int(command[command.index("--concurrency") + 1])
        assert 50 + 8 < threads <= settings.POOL["max_size"]
    assert client.NO_KEEPALIVE_LIMITS.max_connections is None


def test_what_the_beat_asks_for_again_does_not_pile_up_while_no_worker_is_there() -> None:
    for name, row in app.conf.beat_schedule.items():
        assert row["options"]["expires"] <= max(5, row["schedule"]), name


def test_a_task_sent_by_name_goes_to_the_same_queue() -> None:
    before = connect_redis().llen("reelroom:post")
    enqueue._enqueue(enqueue.DELIVER_ALERT_TASK, str(uuid4()))
    assert connect_redis().llen("reelroom:post") == before + 1
