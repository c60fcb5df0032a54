"""Fourteen faults × every charging operation × 25 seeds, on the real wire: 13 of the seeds on
SQLite, 12 on PostgreSQL.

In lanes: most of a fault is waiting. Each operation and seed has an account of its own in one
world, with all the faults one after another, in an order and with details that the seed draws.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import NamedTuple

import httpx
from django.db import connection

from proxyapi.models import Charge
from proxyapi.upstream.tls import shared_ssl_context
from tests.admission import admit_charge
from tests.drills.figures import Figures
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.faults import FAULTS
from tests.proxyapi.money.faulty_transport import FaultyTransport
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import (
    SandboxAccount,
    open_sandbox_account,
    work_until_settled,
)
from tests.settings import ON_POSTGRES

FULL = 12 if ON_POSTGRES else 13
SEEDS = int(os.environ.get("DRILL_SEEDS", FULL))
LANES = int(os.environ.get("DRILL_LANES", "6"))  # the pool to PostgreSQL has eight connections
ONLY = os.environ.get("DRILL_OPERATIONS", "")  # names, separated by commas; for a closer look
SETTLED_WITHIN = 60.0  # seconds after the fault's end


class FaultPart(NamedTuple):
    operation: str
    number: int


def test_no_fault_charges_twice_or_loses_a_charge(
    control: httpx.Client, faulty_transport: FaultyTransport
) -> None:
    database = "PostgreSQL" if ON_POSTGRES else "SQLite"
    figures, verdict = Figures(f"charging under faults, {database}"), ChargeAudit()
    names = ONLY.split(",") if ONLY else list(INTENT_MAKERS)
    parts = [FaultPart(name, number) for number in range(SEEDS) for name in names]
    control.post("reset", json={})
    for found in run_in_threads(control, faulty_transport, figures.seed, parts):
        verdict.merge(found)
    report_verdict(figures, verdict, len(names) * len(FAULTS))
    figures.close()


def run_in_threads(
    control: httpx.Client, wire: FaultyTransport, seed: int, parts: list[FaultPart]
) -> Iterable[ChargeAudit]:
    def played(part: FaultPart) -> ChargeAudit:
        try:
            return run_part(control, wire, part, f"{seed}/{part.number}")
        finally:
            connection.close()  # this thread's own

    with ThreadPoolExecutor(LANES) as pool:
        yield from pool.map(played, parts)


def run_part(
    control: httpx.Client, wire: FaultyTransport, part: FaultPart, seed: str
) -> ChargeAudit:
    verdict = ChargeAudit()
    # A client of its own: threads that share one close idle connections that another begins to use.
    with (
        httpx.Client(
            base_url=control.base_url, verify=shared_ssl_context(), timeout=control.timeout
        ) as own_control,
        open_sandbox_account(own_control, empty=False) as stage,
    ):
        chance = Random(f"{seed}/{part.operation}")  # noqa: S311
        for fault in chance.sample(list(FAULTS), len(FAULTS)):
            run_fault_once(stage, wire, fault, part.operation, chance, verdict)
        verdict.check_account(stage, f"{part.operation}, seed {part.number}")
    return verdict


def run_fault_once(
    stage: SandboxAccount,
    wire: FaultyTransport,
    fault: str,
    operation: str,
    chance: Random,
    verdict: ChargeAudit,
) -> None:
    intent = INTENT_MAKERS[operation](stage)
    already, began = stage.spent_credits(), time.monotonic()
    FAULTS[fault](stage, wire, path_pattern(operation), chance)
    charge = work_until_settled(admit_charge(intent), SETTLED_WITHIN)
    verdict.slowest = max(verdict.slowest, time.monotonic() - began)
    if wire.trouble is not None or not stage.are_faults_met():
        verdict.unmet.append(f"{operation} {fault}")
    wire.trouble = None
    stage.clear_faults()
    if not Charge.objects.filter(nonce=intent.nonce).exists():
        verdict.lost.append(f"{operation} {fault}")
    verdict.judge_charge(charge, stage.spent_credits() - already, f"{operation} {fault}")


def report_verdict(figures: Figures, verdict: ChargeAudit, of_a_seed: int) -> None:
    seeds = verdict.charges // of_a_seed
    figures.report(
        f"{seeds} of {FULL} seeds × {of_a_seed} pairs of a fault and an operation",
        f"{FULL}, and 25 on both databases",
        holds=seeds >= FULL,
    )
    for name, found in {**verdict.kinds, "without their fault": verdict.unmet}.items():
        told = f"{len(found)} {name} of {verdict.charges} charges under {len(FAULTS)} faults"
        figures.report(told, "0", holds=not found, found=found)
    slowest = f"settled {verdict.slowest:.1f} s after the fault at the latest, with shortened waits"
    figures.report(slowest, "60 s", holds=verdict.slowest <= SETTLED_WITHIN)
