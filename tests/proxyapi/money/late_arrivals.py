"""Requests that arrive late: the connection is dropped, and a proxy forwards the request later.

Under a simulated clock. A person presses again as soon as the portal says that nothing was charged;
the beat comes every five seconds. What arrives within the longest time of its operation is paid
once. What arrives later still is paid, and so is what was pressed again: both debits have a charge.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from dashboard.alerts.default_rules import create_default_rules
from dashboard.alerts.evaluate import evaluate_team
from dashboard.models import AlertEvent, Team
from proxyapi import ledger, rate_limiter, tasks
from proxyapi.charges import ChargeIntent, charges_with_late_debit
from proxyapi.models import Charge, ChargeState, Upload
from proxyapi.models.charge import CHARGED_LATE_CODE, NEVER_CHARGED_CODE
from proxyapi.operations import get_operation as row_of
from proxyapi.polling import due_work
from proxyapi.refusals import Refusal
from tests.admission import admit_charge
from tests.factories import TeamFactory
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox, sandbox_with_account
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import SandboxAccount

BEAT_SECONDS, REST_SECONDS = 5, 30  # the second where no charge is open
AFTER_SECONDS = 150  # from the arrival to the end of what is looked at: the ledger is read in it
DELAYS = 10
OF_A_FILE = ("field", "name", "content_type", "content")


@dataclass
class LateArrivals:
    """What became of the requests; problems are told with how to find them."""

    requests: int = 0
    matched_late: int = 0
    longest_wait: float = 0.0  # seconds from the press to "never charged"
    twice: list[str] = field(default_factory=list)
    false_uncharged: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def draw_delays(operation: str, count: int = DELAYS) -> list[float]:
    """From none to the longest time of the operation, in seconds."""
    longest = row_of(operation).max_duration_s
    return [longest * number / (count - 1) for number in range(count)]


@contextmanager
def open_sandbox(sandbox: InProcessSandbox) -> Iterator[tuple[SandboxAccount, Team]]:
    Team.objects.all().delete()
    with (
        sandbox_with_account(sandbox, {}, credits=10**7) as stage,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(rate_limiter, "PREVIEWS_PER_MINUTE", 10_000)  # five a minute are too few here
        team = TeamFactory(tenant=stage.token.tenant)
        create_default_rules(team)
        yield stage, team


def arrive_in_time(
    sandbox: InProcessSandbox, operation: str, delays: list[float], found: LateArrivals
) -> None:
    """One request after another, each so many seconds late, in one world."""
    with open_sandbox(sandbox) as (stage, _):
        for delay in delays:
            charges, taken = press_and_delay(sandbox, stage, operation, delay, found)
            told = f"{operation}, {delay:.0f} s late: {describe_charges(charges)}, it took {taken}"
            if len(taken) > 1:
                found.twice.append(told)
            if any(charge.code in (NEVER_CHARGED_CODE, CHARGED_LATE_CODE) for charge in charges):
                found.false_uncharged.append(told)
            if [charge.cost for charge in charges if charge.is_charged] != (taken or [Decimal(0)]):
                found.wrong.append(told)
        check_accounts(stage, operation, found)


def arrive_too_late(
    sandbox: InProcessSandbox, operation: str, delay: float, found: LateArrivals, *, again: bool
) -> None:
    """`again`: pressed again when it was said that nothing was charged. What the service took for
    either press has a charge, and who pressed is told of the late one."""
    with open_sandbox(sandbox) as (stage, team):
        charges, taken = press_and_delay(sandbox, stage, operation, delay, found, again=again)
        told = f"{operation}, {delay:.0f} s late: {describe_charges(charges)}, it took {taken}"
        costs = [charge.cost for charge in charges if charge.is_charged and charge.cost]
        if sorted(costs) != sorted(taken):
            found.wrong.append(told)
        if charges[0].code == CHARGED_LATE_CODE:
            found.matched_late += 1
            evaluate_team(team.pk)
            alert = AlertEvent.objects.filter(subject=str(charges[0].pk), member=charges[0].member)
            is_twice = len(taken) > 1
            if [("charged twice" in one.text) for one in alert] != [is_twice]:
                found.wrong.append(f"{told}: {[one.text for one in alert]}")
        elif charges[0].code != NEVER_CHARGED_CODE:
            found.wrong.append(f"{told}: not called uncharged")
        check_accounts(stage, told, found)


def describe_charges(charges: list[Charge]) -> str:
    return ", ".join(f"{charge.state} {charge.cost} {charge.code}" for charge in charges)


def check_accounts(stage: SandboxAccount, what: str, found: LateArrivals) -> None:
    verdict = ChargeAudit()
    verdict.check_account(stage, what)
    found.wrong += [one for one in verdict.problems if one not in verdict.double]


def press_and_delay(
    sandbox: InProcessSandbox,
    stage: SandboxAccount,
    operation: str,
    delay: float,
    found: LateArrivals,
    *,
    again: bool = True,
) -> tuple[list[Charge], list[Decimal]]:
    """Press, have the request held back, press again once it is said that nothing was charged. The
    charges, and what the service took for each request."""
    intent = INTENT_MAKERS[operation](stage)
    already = len(taken_credits(sandbox))
    stage.set_fault(path_pattern(operation), "late", seconds=delay)
    sent_at, charges = sandbox.now(), [press_button(intent)]
    found.requests += 1
    assert charges[0].state == ChargeState.UNKNOWN, charges[0].reason
    over_at = sent_at + timedelta(
        seconds=max(delay, row_of(operation).max_duration_s) + AFTER_SECONDS
    )
    while sandbox.now() < over_at and not is_settled(sandbox, charges):
        run_beat(
            sandbox, stage, BEAT_SECONDS if any(one.is_open for one in charges) else REST_SECONDS
        )
        for charge in charges:
            charge.refresh_from_db()
        if len(charges) == 1 and again and charges[0].code == NEVER_CHARGED_CODE:
            waited = (sandbox.now() - sent_at).total_seconds()
            found.longest_wait = max(found.longest_wait, waited)
            charges += press_again(intent)
    return charges, taken_credits(sandbox)[already:]


def is_settled(sandbox: InProcessSandbox, charges: list[Charge]) -> bool:
    """Whether the request arrived, and every press has its end; one that was called uncharged
    before that may change yet."""
    is_called = charges[0].code == NEVER_CHARGED_CODE
    return not (sandbox.world.in_flight or is_called or any(one.is_open for one in charges))


def taken_credits(sandbox: InProcessSandbox) -> list[Decimal]:
    return [Decimal(charge.credits) for charge in sandbox.world.charges if charge.credits]


def press_button(intent: ChargeIntent) -> Charge:
    charge = admit_charge(intent)
    tasks.dispatch_charge_task(str(charge.pk))
    charge.refresh_from_db()
    return charge


def press_again(intent: ChargeIntent) -> list[Charge]:
    """As a form does that is drawn anew; refused where the video runs by now."""
    if intent.job is not None:
        intent.job.refresh_from_db()
    files = [{name: getattr(one, name) for name in OF_A_FILE} for one in intent.uploads]
    uploads = tuple(Upload(**fields) for fields in files)
    try:
        return [press_button(replace(intent, nonce=uuid4(), uploads=uploads))]
    except Refusal:
        return []


def run_beat(sandbox: InProcessSandbox, stage: SandboxAccount, seconds: int) -> None:
    """What the beat does after so many seconds."""
    advance_clock(sandbox, stage, seconds)
    run_due_charges()
    sync_due_ledgers(sandbox)


def advance_clock(sandbox: InProcessSandbox, stage: SandboxAccount, seconds: float) -> None:
    """A request that is due meanwhile arrives on time."""
    now, in_flight = sandbox.clock.now(), sandbox.world.in_flight
    if in_flight and in_flight[0].at <= now + seconds:
        sandbox.clock.advance(max(0.0, in_flight[0].at - now))
        stage.control.get("clock")
    sandbox.clock.advance(now + seconds - sandbox.clock.now())


def run_due_charges() -> None:
    for id, state in due_work.lease_due_charges():
        task = (
            tasks.dispatch_charge_task if state == ChargeState.HELD else tasks.reconcile_charge_task
        )
        task(str(id))


def sync_due_ledgers(sandbox: InProcessSandbox) -> None:
    for account in ledger.accounts_due_for_sync(sandbox.now()):
        ledger.sync_account(account)
        for id in charges_with_late_debit(account):
            tasks.reconcile_charge_task(str(id))
