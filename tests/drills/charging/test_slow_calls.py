"""Fifty calls that the service answers late delay no other: a fast charge is sent beside them.

The workers are those of `make run`, by their commands.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import httpx
from django.db.models import Max

from dashboard.up.__main__ import WORKERS
from dashboard.up.install import ROOT
from proxyapi import tasks
from proxyapi.models import Charge, ChargeState
from tests.admission import admit_charge
from tests.drills import portal_commands
from tests.drills.figures import Figures
from tests.drills.portal_processes import seconds_until
from tests.leak_search import LOGS
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS
from tests.proxyapi.money.sandbox_account import SandboxAccount, open_sandbox_account

OPERATION = "text_to_video.create"
SLOW_CALLS, ANSWER_DELAY_S, WANTED_DELAY_S = 50, 15, 2.0


def test_fifty_slow_calls_do_not_delay_a_fast_one(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> None:
    figures, audit = Figures("fifty slow calls"), ChargeAudit()
    with open_sandbox_account(control) as stage, running_workers():
        send_and_wait(stage)  # the workers have started
        unloaded = send_and_wait(stage)
        stage.set_fault("*/text-to-video", "latency", times=SLOW_CALLS, ms=ANSWER_DELAY_S * 1000)
        for _ in range(SLOW_CALLS):
            enqueue_charge(stage)
        sending = Charge.objects.filter(state=ChargeState.SENDING)
        seconds_until(lambda: sending.count() == SLOW_CALLS, 10)
        waiting = sending.count()
        loaded = send_and_wait(stage)
        seconds_until(lambda: not Charge.objects.holding().exists(), 600)
        audit.check_account(stage, "slow calls")
    longest = Charge.objects.aggregate(longest=Max("attempts"))["longest"]
    figures.report(f"{waiting} in `sending` at once", f"{SLOW_CALLS}", holds=waiting == SLOW_CALLS)
    figures.report(
        f"a fast one after {loaded:.1f} s, {unloaded:.1f} s without them",
        f"at most {WANTED_DELAY_S:.0f} s more",
        holds=loaded - unloaded <= WANTED_DELAY_S,
    )
    figures.report(f"{longest} attempts at most", "1", holds=longest == 1)
    figures.report(f"{len(audit.problems)} differences", "0", holds=not audit.problems)
    figures.close()


@contextmanager
def running_workers() -> Iterator[None]:
    LOGS.mkdir(exist_ok=True)
    with ExitStack() as stack:
        environ = portal_commands.portal_environment()
        for name, command in WORKERS.items():
            log = stack.enter_context((LOGS / name).open("a"))
            process = subprocess.Popen(command, cwd=ROOT, env=environ, stdout=log, stderr=log)
            stack.enter_context(process)
            stack.callback(process.terminate)
        yield


def enqueue_charge(stage: SandboxAccount) -> Charge:
    charge = admit_charge(INTENT_MAKERS[OPERATION](stage))
    tasks.dispatch_charge_task.delay(str(charge.pk))
    return charge


def send_and_wait(stage: SandboxAccount) -> float:
    """Seconds until the service has answered a charge."""
    confirmed = Charge.objects.filter(pk=enqueue_charge(stage).pk, state=ChargeState.CONFIRMED)
    return seconds_until(confirmed.exists, 400)
