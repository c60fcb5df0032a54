"""Members at once: whatever they do, spent + held stays under every cap, and no room is refused.

Threads with connections of their own, on the database of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from threading import Barrier
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from dashboard.models import AuditEvent, Budget, BudgetPeriod, Membership
from dashboard.shared.budget_usage import BudgetExceeded, load_budget_usages
from dashboard.shared.charging import charge_within_budget
from proxyapi.charges import transitions
from proxyapi.models import Account, Charge, ChargeState, Job
from tests.dashboard.budgets.conftest import make_intent
from tests.examples import examples

pytestmark = pytest.mark.django_db(transaction=True)
LIMIT = st.integers(1, 400)
OF = st.tuples(st.sampled_from([0, 1, None]), st.sampled_from(list(BudgetPeriod)))


class ConcurrentCharge(NamedTuple):
    """One of two members charges so much; `cost` is settled at once if it is given."""

    whose: int
    hold: int
    cost: int | None


@st.composite
def draw_charges(draw: st.DrawFn) -> list[ConcurrentCharge]:
    holds = draw(st.lists(st.integers(1, 150), min_size=3, max_size=6))
    return [
        ConcurrentCharge(draw(st.integers(0, 1)), hold, draw(st.none() | st.integers(0, hold)))
        for hold in holds
    ]


def at_once(works: Sequence[Callable[[], object]]) -> list[bool]:
    """Whether each went through its budgets. Every thread gives its connection back."""
    start = Barrier(len(works))

    def run(work: Callable[[], object]) -> bool:
        start.wait(120)
        try:
            work()
        except BudgetExceeded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


def work(member: Membership, job: Job, deed: ConcurrentCharge) -> Callable[[], None]:
    def run() -> None:
        made = charge_within_budget(member, make_intent(job, deed.hold))
        if deed.cost is not None:
            Charge.objects.transition(made, ChargeState.SENDING, sent_at=timezone.now())
            transitions.mark_charged(made, ChargeState.CONFIRMED, Decimal(deed.cost))

    return run


def forget() -> None:
    for model in (Charge, Job, Budget):
        model.objects.all().delete()


# No shrinking: a race that is run again is another race.
@settings(
    max_examples=examples(5, 12),
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.dictionaries(OF, LIMIT, min_size=1), draw_charges())
def test_pitfall_54_never_above_a_limit_in_spent_and_held(
    priya: Membership,
    luca: Membership,
    video: Callable[..., Job],
    limits: dict[tuple[int | None, BudgetPeriod], int],
    deeds: list[ConcurrentCharge],
) -> None:
    forget()
    people = (priya, luca)
    for (whose, period), hard in limits.items():
        member = None if whose is None else people[whose].user
        Budget.objects.create(team=priya.team, member=member, hard=hard, period=period)
    jobs = [video(people[deed.whose]) for deed in deeds]
    passed = at_once([work(people[d.whose], job, d) for d, job in zip(deeds, jobs, strict=True)])

    found = load_budget_usages(priya.team, Budget.objects.all(), timezone.now())
    assert all(one.used <= Decimal(one.budget.hard or 0) for one in found)
    settled = any(deed.cost is not None for deed in deeds)
    for deed, went in zip(deeds, passed, strict=True):
        mine = [one for one in found if one.budget.member_id in (None, people[deed.whose].user_id)]
        # Settling gives room back, so only without it is a refusal still true afterwards.
        assert went or settled or not all(one.has_room_for(Decimal(deed.hold)) for one in mine)


def test_pitfall_54_the_last_credits_go_to_one(
    priya: Membership, budget: Callable[..., Budget], video: Callable[..., Job]
) -> None:
    budget(priya, 212)
    jobs = [video(priya) for _ in range(6)]
    passed = at_once([work(priya, job, ConcurrentCharge(0, 106, None)) for job in jobs])
    assert passed.count(True) == 2
    assert Account.objects.get().held_credits() == 212


def test_pitfall_40_equal_presses_at_once_leave_one_audit_row(
    priya: Membership, video: Callable[..., Job]
) -> None:
    """Without a budget nothing is locked before the account."""
    same = make_intent(video(priya))
    assert at_once([partial(charge_within_budget, priya, same)] * 6) == [True] * 6
    assert Charge.objects.count() == AuditEvent.objects.count() == 1


def test_members_who_lock_in_other_orders_do_not_deadlock(
    priya: Membership, luca: Membership, budget: Callable[..., Budget], video: Callable[..., Any]
) -> None:
    for member in (priya, None, luca):
        for period in BudgetPeriod:
            budget(member, 10_000, period=period)
    works = [work(who, video(who), ConcurrentCharge(0, 1, None)) for who in (priya, luca) * 4]
    assert at_once(works) == [True] * 8
