"""A charge whose worker died while it was `sending`, in every weather, for a quarter of an hour.

Within it the charge is settled, or it stands on the overview among what needs a person; it never
just grows old. A weather that passes does so five minutes later, and then it is settled, too. Under
a simulated clock: the beat comes every five seconds of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from dashboard.models import Team
from dashboard.queries.overview.concerns import concerns_of
from proxyapi import tasks
from proxyapi.charges import admit_charge
from proxyapi.models import Charge, ChargeState
from proxyapi.polling import due_work
from proxyapi.upstream.catalog import operation as row_of
from tests.factories import TeamFactory
from tests.proxyapi.money.indoors import Indoors, staged
from tests.proxyapi.money.operations import OPERATIONS
from tests.proxyapi.money.stage import ENDED, Stage
from tests.proxyapi.money.verdict import Verdict

DEATHS = ("wire", "sent", "answered")
QUARTER, FIVE, TWO = (timedelta(minutes=minutes) for minutes in (15, 5, 2))
BEAT = 5  # seconds
LEDGER = "/v2/credits/history"


@dataclass
class Ages:
    """What became of those that were looked at; seconds are of the simulated clock."""

    settled: int = 0
    to_a_person: int = 0
    wrong: list[str] = field(default_factory=list)
    longest: float = 0.0  # in `sending`, after its worker died
    charged: float = 0.0  # until a debit settled it in fair weather, after its worker died
    free: float = 0.0  # the same of what took nothing, less the longest that its request may take
    after: float = 0.0  # until it was settled, after its weather had passed

    def note(self, charge: Charge, seconds: float) -> None:
        if charge.cost:
            self.charged = max(self.charged, seconds)
        else:
            self.free = max(self.free, seconds - row_of(charge.operation).longest)


def fair(_: Stage, __: Indoors) -> None:
    """Everything answers."""


def away(_: Stage, house: Indoors) -> None:
    house.away = True


def no_ledger(stage: Stage, _: Indoors) -> None:
    broken(stage, {"path": LEDGER}, "status", code=500)


def no_reads(stage: Stage, _: Indoors) -> None:
    broken(stage, {"path": LEDGER}, "latency", ms=0.001)  # the first rule that fits is taken
    broken(stage, {"method": "GET"}, "status", code=500)


def no_token(stage: Stage, _: Indoors) -> None:
    accounts = stage.control.get("accounts").json()
    for token in accounts[0]["tokens"]:
        assert stage.control.delete(f"tokens/{token['fingerprint']}").is_success


WEATHERS: Mapping[str, Callable[[Stage, Indoors], None]] = {
    "fair": fair,
    "the service is away": away,
    "the ledger is not readable": no_ledger,
    "only the ledger is readable": no_reads,
    "the token is revoked": no_token,
}


PASSING = ("the service is away", "the ledger is not readable", "only the ledger is readable")


def broken(stage: Stage, match: dict[str, str], action: str, **options: Any) -> None:
    rule = {"match": match, "when": "before", "action": action, **options}
    assert stage.control.post("faults", json=rule).is_success


def grown_old(house: Indoors, operation: str, death: str, weather: str, ages: Ages) -> None:
    Team.objects.all().delete()
    house.away = False
    with staged(house, {}, credits=10**7) as stage:
        wanted = OPERATIONS[operation](stage)
        already = stage.spent()
        charge = admit_charge(wanted)
        with house.dying(death):
            tasks.dispatch_charge_task(str(charge.pk))
        charge.refresh_from_db()
        what = f"{operation}, died at {death}, {weather}"
        if charge.state != ChargeState.SENDING:
            ages.wrong.append(f"{what}: it is {charge.state}, not left in sending")
        WEATHERS[weather](stage, house)
        took = beaten(house, charge, ages, QUARTER)
        if weather == "fair":
            ages.note(charge, took)
        judge(stage, house, charge, stage.spent() - already, what, ages)
        if weather in PASSING and charge.state not in ENDED:
            beaten(house, charge, ages, FIVE)
            house.away = False
            assert stage.control.delete("faults").is_success
            ages.after = max(ages.after, beaten(house, charge, ages, TWO))
            settled(stage, charge, stage.spent() - already, what, ages)


def beaten(house: Indoors, charge: Charge, ages: Ages, time: timedelta) -> float:
    """The beat for so long, or until it is settled; how many seconds that took."""
    died_at = house.now()
    while charge.state not in ENDED and house.now() < died_at + time:
        house.clock.advance(BEAT)
        for id, state in due_work.lease_due_charges():
            task = (
                tasks.dispatch_charge_task
                if state == ChargeState.HELD
                else tasks.reconcile_charge_task
            )
            task(str(id))
        if charge.state == ChargeState.SENDING:
            ages.longest = max(ages.longest, (house.now() - died_at).total_seconds())
        charge.refresh_from_db()
    return (house.now() - died_at).total_seconds()


def settled(stage: Stage, charge: Charge, taken: Any, what: str, ages: Ages) -> None:
    verdict = Verdict()
    verdict.judge(charge, taken, f"{what}, and passed")
    ages.wrong += verdict.problems


def judge(stage: Stage, house: Indoors, charge: Charge, taken: Any, what: str, ages: Ages) -> None:
    verdict = Verdict()
    if charge.state in ENDED:
        verdict.judge(charge, taken, what)
        ages.wrong += verdict.problems
        ages.settled += 1
    elif charge.state == ChargeState.UNKNOWN and is_shown(stage, house, charge):
        ages.to_a_person += 1
    else:
        ages.wrong.append(f"{what}: {charge.state}, and nobody is told")


def is_shown(stage: Stage, house: Indoors, charge: Charge) -> bool:
    """Whether the overview lists it among what needs a person."""
    team, now = TeamFactory(vault=stage.token.vault), house.now()
    month = now - timedelta(days=30)
    found = concerns_of(team, [charge.account_id], month, now)
    return any(one.kind == "unknown" and one.id == charge.pk for one in found)
