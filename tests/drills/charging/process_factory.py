"""The foundry: makes web and worker processes at once, by forking one that has all it needs.

Run as a process of its own. A line of JSON comes in, a line goes out:

    {"do": "press", "intent": …, "point": …}   a web process writes the intent and rings → its end
    {"do": "work", "point": …}                 a worker process begins → its pid
    {"do": "serve", "port": …, "point": …}     a web process with the MCP server begins → its pid
    {"do": "agent", "port": …, "key": …, "order": …}   an agent that orders begins → its pid
    {"do": "batch", "batch": …}            a web process starts this batch → its pid
    {"do": "await", "pid": …, "seconds": …}    → the signal that ended it, or null if it lives
    {"do": "kill", "pid": …}                   kill -9

`point` is the failpoint (`proxyapi/failpoints.py`) at which that process dies, or "". `queue` is
the one of that process: another for each round, so that nobody takes the work of an earlier one.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import json
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable
from decimal import Decimal
from importlib import import_module
from typing import Any
from uuid import UUID

import django

ENDS: dict[int, int] = {}  # the signals of those that ended
REDELIVERED_AFTER = 2  # seconds instead of ten minutes
OF_A_WORKER = (
    *("celery.apps.worker", "celery.worker.autoscale", "celery.worker.components"),
    *("celery.worker.consumer", "celery.worker.control", "celery.worker.loops"),
    *("celery.worker.pidbox", "celery.worker.strategy", "celery.concurrency.solo"),
    *("celery.app.log", "celery.events.receiver", "kombu.transport.redis", "proxyapi.tasks"),
)
OF_AGENTS = (
    *("dashboard.api_keys.team_rules", "mcp.client.streamable_http", "proxyapi.mcp_server.app"),
    *("tests.client_checks.naive_agent", "uvicorn.loops.auto", "uvicorn.protocols.http.auto"),
)
# Statuses with which an agent has what it ordered, or learns that it cannot have it.
AGENT_ENDS = ("made", "rendering", "completed", "paused")


def main() -> None:
    django.setup()
    import proxyapi.rate_limiter

    proxyapi.rate_limiter.PREVIEWS_PER_MINUTE = 10_000  # a minute instead of five
    import_everything()
    for line in sys.stdin:
        print(json.dumps(obey_order(json.loads(line))), flush=True)


def import_everything() -> None:
    """All that a worker imports, imported once: a fork starts in a tenth of the processor time."""
    from dashboard.celery import app

    app.loader.import_default_modules()
    app.finalize()
    for name in (*OF_A_WORKER, *OF_AGENTS):
        import_module(name)
    gc.collect()
    gc.freeze()


def obey_order(order: dict[str, Any]) -> int | None:
    if order["do"] == "press":
        return wait_for_exit(fork_process(order), 30)
    if order["do"] in ("work", "serve", "agent", "batch"):
        return fork_process(order)
    if order["do"] == "kill":
        os.kill(order["pid"], signal.SIGKILL)
    return wait_for_exit(order["pid"], order.get("seconds", 5))


def fork_process(order: dict[str, Any]) -> int:
    pid = os.fork()
    if pid:
        ENDS.pop(pid, None)  # numbers of processes come round
        return pid
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    told = os.dup(2)
    log = os.open(os.environ["DRILL_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.dup2(log, 1)  # a worker's banner is no answer
    os.dup2(log, 2)
    warnings.simplefilter("ignore")  # nor that it runs as root, where it does
    try:
        arm_failpoint(order)
        FORKED[order["do"]](order)
    except BaseException as error:  # told, for a forked process must not go on as its parent
        os.write(told, f"{error!r}\n".encode())
        os._exit(1)
    os._exit(0)


def arm_failpoint(order: dict[str, Any]) -> None:
    from dashboard.celery import app
    from proxyapi import failpoints

    app.conf.task_default_queue, app.conf.task_routes = order["queue"], {}
    failpoints.ACTIVE_FAILPOINT, failpoints._hits_left = order["point"], 1


def press_button(order: dict[str, Any]) -> None:
    """What a web process does when somebody presses the button."""
    from django.db import transaction

    from proxyapi import tasks
    from tests.admission import admit_charge

    with transaction.atomic():
        charge = admit_charge(build_intent(order["intent"]))
        tasks.enqueue_task_after_commit(tasks.dispatch_charge_task, charge.pk)


def build_intent(told: dict[str, Any]) -> Any:
    from proxyapi.charges import ChargeIntent
    from proxyapi.models import Job, Token, Upload

    uploads = [
        Upload(field=field, name=name, content_type=kind, content=base64.b64decode(content))
        for field, name, kind, content in told["uploads"]
    ]
    return ChargeIntent(
        job=Job.objects.get(pk=told["job"]) if told["job"] else None,
        operation=told["operation"],
        nonce=UUID(told["nonce"]),
        hold=Decimal(told["hold"]),
        quote=Decimal(told["quote"]),
        body=told["body"],
        path=told["path"],
        token=Token.objects.get(pk=told["token"]) if told["token"] else None,
        uploads=tuple(uploads),
    )


def run_worker(order: dict[str, Any]) -> None:
    """A Celery worker, as it is started for the site."""
    from dashboard.celery import app

    app.conf.broker_transport_options |= {
        "visibility_timeout": REDELIVERED_AFTER,
        "unacked_restore_interval": 1,
        "unacked_restore_throttle": 1,
    }
    worker = app.Worker(
        pool="solo",
        queues=[order["queue"]],
        loglevel="DEBUG",
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
        hostname=f"drill-{os.getpid()}@here",
    )
    worker.start()


def serve_mcp(order: dict[str, Any]) -> None:
    """The MCP server as a web process has it, without the pages."""
    import uvicorn

    from proxyapi.gateway.app import Gateway
    from proxyapi.mcp_server.app import McpApp

    app = McpApp(Gateway())
    uvicorn.run(app, port=order["port"], lifespan="off", access_log=False, log_level="warning")


def run_agent(order: dict[str, Any]) -> None:
    from tests.client_checks import naive_agent

    url = f"http://127.0.0.1:{order['port']}/mcp"
    ending = naive_agent.insist(url, order["key"], order["order"], AGENT_ENDS, 200)
    status = asyncio.run(ending)
    if status not in AGENT_ENDS:
        raise SystemExit(status)


def press_start(order: dict[str, Any]) -> None:
    """What a web process does when the member of a batch confirms its start."""
    from dashboard.batches.runner import find_runner
    from dashboard.models import Batch
    from tests.drills.batch_team import start_batch

    batch = Batch.objects.get(pk=order["batch"])
    start_batch(find_runner(batch), batch)


FORKED: dict[str, Callable[[dict[str, Any]], None]] = {
    "press": press_button,
    "work": run_worker,
    "serve": serve_mcp,
    "agent": run_agent,
    "batch": press_start,
}


def wait_for_exit(pid: int, seconds: float) -> int | None:
    until = time.monotonic() + seconds
    while pid not in ENDS and time.monotonic() < until:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            ENDS[pid] = -os.waitstatus_to_exitcode(status)
        else:
            signal.sigtimedwait([], 0.01)
    return ENDS.get(pid)


if __name__ == "__main__":
    main()
