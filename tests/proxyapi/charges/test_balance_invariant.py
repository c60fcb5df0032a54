"""Whatever members do at once, what is spent and held together never passes the balance.

Threads with connections of their own; `TEST_DATABASE=postgresql` runs it there.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from random import Random

import pytest
from django.db.models import Sum
from django.utils import timezone

from proxyapi.charges import (
    ChargeIntent,
    approve_draft_charge,
    transitions,
    withdraw_draft_charge,
    write_off_charge,
)
from proxyapi.models import Account, Charge, ChargeState, Job
from proxyapi.models.charge import CHARGED_STATES
from tests.admission import admit_charge, create_draft_charge
from tests.factories import JobFactory
from tests.proxyapi.charges.test_concurrency import together

pytestmark = pytest.mark.django_db(transaction=True)
BALANCE = Decimal(1000)
CROWD, DEEDS = 5, 12


@pytest.mark.parametrize("seed", range(2))
def test_pitfall_54_spent_and_held_never_pass_the_balance(job: Job, seed: int) -> None:
    jobs = [job] + [
        JobFactory(account=job.account, token=job.token, tenant=job.tenant, remote_id=str(100 + n))
        for n in range(7)
    ]
    seen: list[Decimal] = []
    together(lambda n=n: life(Random(f"{seed}/{n}"), jobs, seen) for n in range(CROWD))  # type: ignore[misc]  # noqa: S311
    assert 0 < max(seen) <= BALANCE
    assert taken() <= BALANCE


def life(chance: Random, jobs: list[Job], seen: list[Decimal]) -> None:
    for _ in range(DEEDS):
        try:
            DEED[chance.choice(sorted(DEED))](chance, jobs)
        except Exception as error:  # a refusal, or a row that somebody else had first
            if type(error).__module__.startswith("django.db"):
                raise
        seen.append(taken())


def taken() -> Decimal:
    """Spent and held, in one query."""
    rows = Charge.objects.filter(state__in=[*CHARGED_STATES, "held", "sending", "unknown"])
    costs = {row.pk: row.cost if row.state in CHARGED_STATES else row.hold for row in rows}
    return sum((cost or Decimal(0) for cost in costs.values()), Decimal(0))


def intend(chance: Random, jobs: list[Job]) -> ChargeIntent:
    one, hold = chance.choice(jobs), Decimal(chance.randrange(20, 400))
    return ChargeIntent(one, "faceless.scripts", uuid.uuid4(), hold, hold)


def one(chance: Random, *states: ChargeState) -> Charge:
    rows = list(Charge.objects.filter(state__in=states).select_related("account").order_by("pk"))
    return chance.choice(rows)


def pay(chance: Random, _: list[Job]) -> None:
    """A worker sends it, and it takes at most what was held."""
    charge = one(chance, ChargeState.HELD)
    if Charge.objects.transition(charge, ChargeState.SENDING, sent_at=timezone.now()):
        transitions.mark_charged(charge, ChargeState.CONFIRMED, charge.hold)


def lose(chance: Random, _: list[Job]) -> None:
    charge = one(chance, ChargeState.HELD)
    if Charge.objects.transition(charge, ChargeState.SENDING, sent_at=timezone.now()):
        transitions.mark_unknown(charge, None)


DEED: Mapping[str, Callable[[Random, list[Job]], object]] = {
    "ask": lambda chance, jobs: create_draft_charge(intend(chance, jobs)),
    "lose": lose,
    "pay": pay,
    "record": lambda chance, jobs: admit_charge(intend(chance, jobs)),
    "refuse": lambda chance, _: transitions.release_hold(
        one(chance, ChargeState.HELD), "No.", None
    ),
    "release": lambda chance, _: approve_draft_charge(one(chance, ChargeState.DRAFT)),
    "withdraw": lambda chance, _: withdraw_draft_charge(one(chance, ChargeState.DRAFT), "No."),
    "write off": lambda chance, jobs: write_off_charge(
        one(chance, ChargeState.UNKNOWN), jobs[0].member_id, "Gone."
    ),
}


def test_the_balance_is_taken_off_by_what_was_spent(job: Job) -> None:
    charge = admit_charge(intend(Random(1), [job]))  # noqa: S311
    assert Charge.objects.transition(charge, ChargeState.SENDING, sent_at=timezone.now())
    transitions.mark_charged(charge, ChargeState.CONFIRMED, charge.hold)
    account = Account.objects.get()
    spent = Charge.objects.aggregate(sum=Sum("cost"))["sum"]
    assert account.balance == BALANCE - spent
    assert account.available_balance() == BALANCE - spent
