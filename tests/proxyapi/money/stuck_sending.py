"""A charge whose worker died while it was `sending`, in every weather, for a quarter of an hour.

Within it the charge is settled, or it stands on the overview among what needs attention; it never
just grows old. A weather that passes does so five minutes later, and then it is settled, too. Under
a simulated clock: the beat comes every five seconds of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dashboard.models import Team
from dashboard.overview.queries.attention import find_attention_items
from proxyapi import tasks
from proxyapi.models import Charge, ChargeState
from proxyapi.operations import get_operation as row_of
from proxyapi.polling import due_work
from tests.admission import admit_charge
from tests.factories import TeamFactory
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.in_process_sandbox import InProcessSandbox, sandbox_with_account
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount

FAILPOINTS = ("wire", "sent", "answered")
QUARTER, FIVE, TWO = (timedelta(minutes=minutes) for minutes in (15, 5, 2))
BEAT = 5  # seconds
LEDGER = "/v2/credits/history"


@dataclass
class SettlementAges:
    """What became of those that were looked at; seconds are of the simulated clock."""

    settled: int = 0
    to_a_person: int = 0
    wrong: list[str] = field(default_factory=list)
    longest: float = 0.0  # in `sending`, after its worker died
    charged: float = 0.0  # until a debit settled it in fair weather, after its worker died
    free: float = 0.0  # the same of what took nothing, less the longest that its request may take
    after: float = 0.0  # until it was settled, after its weather had passed

    def record_age(self, charge: Charge, seconds: float) -> None:
        if charge.cost:
            self.charged = max(self.charged, seconds)
        else:
            self.free = max(self.free, seconds - row_of(charge.operation).max_duration_s)


def no_trouble(_: SandboxAccount, __: InProcessSandbox) -> None:
    """Everything answers."""


def service_away(_: SandboxAccount, sandbox: InProcessSandbox) -> None:
    sandbox.away = True


def ledger_unreadable(stage: SandboxAccount, _: InProcessSandbox) -> None:
    set_fault(stage, {"path": LEDGER}, "status", code=500)


def reads_fail(stage: SandboxAccount, _: InProcessSandbox) -> None:
    set_fault(stage, {"path": LEDGER}, "latency", ms=0.001)  # the first rule that fits is taken
    set_fault(stage, {"method": "GET"}, "status", code=500)


def token_rejected(stage: SandboxAccount, _: InProcessSandbox) -> None:
    accounts = stage.control.get("accounts").json()
    for token in accounts[0]["tokens"]:
        assert stage.control.delete(f"tokens/{token['fingerprint']}").is_success


CONDITIONS: Mapping[str, Callable[[SandboxAccount, InProcessSandbox], None]] = {
    "fair": no_trouble,
    "the service is away": service_away,
    "the ledger is not readable": ledger_unreadable,
    "only the ledger is readable": reads_fail,
    "the token is revoked": token_rejected,
}


PASSING_CONDITIONS = (
    "the service is away",
    "the ledger is not readable",
    "only the ledger is readable",
)


def set_fault(stage: SandboxAccount, match: dict[str, str], action: str, **options: Any) -> None:
    rule = {"match": match, "when": "before", "action": action, **options}
    assert stage.control.post("faults", json=rule).is_success


def age_stuck_charge(
    sandbox: InProcessSandbox, operation: str, death: str, weather: str, ages: SettlementAges
) -> None:
    Team.objects.all().delete()
    sandbox.away = False
    with sandbox_with_account(sandbox, {}, credits=10**7) as stage:
        wanted = INTENT_MAKERS[operation](stage)
        already = stage.spent_credits()
        charge = admit_charge(wanted)
        with sandbox.dying_at(death, path_pattern(operation)):
            tasks.dispatch_charge_task(str(charge.pk))
        charge.refresh_from_db()
        what = f"{operation}, died at {death}, {weather}"
        if charge.state != ChargeState.SENDING:
            ages.wrong.append(f"{what}: it is {charge.state}, not left in sending")
        CONDITIONS[weather](stage, sandbox)
        took = beat_until_settled(sandbox, charge, ages, QUARTER)
        if weather == "fair":
            ages.record_age(charge, took)
        judge_charge(stage, sandbox, charge, stage.spent_credits() - already, what, ages)
        if weather in PASSING_CONDITIONS and charge.state not in FINAL_STATES:
            beat_until_settled(sandbox, charge, ages, FIVE)
            sandbox.away = False
            assert stage.control.delete("faults").is_success
            ages.after = max(ages.after, beat_until_settled(sandbox, charge, ages, TWO))
            check_settled(stage, charge, stage.spent_credits() - already, what, ages)


def beat_until_settled(
    sandbox: InProcessSandbox, charge: Charge, ages: SettlementAges, time: timedelta
) -> float:
    """The beat for so long, or until it is settled; how many seconds that took."""
    died_at = sandbox.now()
    while charge.state not in FINAL_STATES and sandbox.now() < died_at + time:
        sandbox.clock.advance(BEAT)
        for id, state in due_work.lease_due_charges():
            task = (
                tasks.dispatch_charge_task
                if state == ChargeState.HELD
                else tasks.reconcile_charge_task
            )
            task(str(id))
        if charge.state == ChargeState.SENDING:
            ages.longest = max(ages.longest, (sandbox.now() - died_at).total_seconds())
        charge.refresh_from_db()
    return (sandbox.now() - died_at).total_seconds()


def check_settled(
    stage: SandboxAccount, charge: Charge, taken: Any, what: str, ages: SettlementAges
) -> None:
    verdict = ChargeAudit()
    verdict.judge_charge(charge, taken, f"{what}, and passed")
    ages.wrong += verdict.problems


def judge_charge(
    stage: SandboxAccount,
    sandbox: InProcessSandbox,
    charge: Charge,
    taken: Any,
    what: str,
    ages: SettlementAges,
) -> None:
    verdict = ChargeAudit()
    if charge.state in FINAL_STATES:
        verdict.judge_charge(charge, taken, what)
        ages.wrong += verdict.problems
        ages.settled += 1
    elif charge.state == ChargeState.UNKNOWN and is_shown(stage, sandbox, charge):
        ages.to_a_person += 1
    else:
        ages.wrong.append(f"{what}: {charge.state}, and nobody is told")


def is_shown(stage: SandboxAccount, sandbox: InProcessSandbox, charge: Charge) -> bool:
    """Whether the overview lists it among what needs attention."""
    team, now = TeamFactory(tenant=stage.token.tenant), sandbox.now()
    month = now - timedelta(days=30)
    found = find_attention_items(team, [charge.account_id], month, now)
    return any(one.kind == "unknown" and str(charge.pk) in one.url for one in found)
