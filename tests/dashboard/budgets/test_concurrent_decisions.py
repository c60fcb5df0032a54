"""Concurrent approvers: one decision counts, one charge is sent, and the others see that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from threading import Barrier

import pytest
from django.db import connection

from dashboard.budgets import actions
from dashboard.models import ApprovalRequest, AuditAction, AuditEvent
from dashboard.shared.budget_usage import BudgetExceeded
from dashboard.shared.charging import charge_within_budget, request_approval
from proxyapi.models import Account, Charge, ChargeState
from proxyapi.refusals import Refusal
from tests.dashboard.budgets.conftest import make_intent

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(works: Sequence[Callable[[], object]]) -> list[type | None]:
    """What each was refused with. Every thread gives its connection back."""
    start = Barrier(len(works))

    def run(work: Callable[[], object]) -> type | None:
        start.wait(120)
        try:
            work()
        except Refusal as refusal:
            return type(refusal)
        finally:
            connection.close()
        return None

    with ThreadPoolExecutor(len(works)) as pool:
        return [done.result() for done in [pool.submit(run, work) for work in works]]


@pytest.fixture
def approval_request(priya, budget, video):
    budget(priya, 50)
    return request_approval(priya, make_intent(video(priya)))


def test_pitfall_40_an_ask_approved_by_several_at_once_is_sent_once(approval_request, mira, thea):
    works = [
        partial(actions.approve_request, by=by, approval=approval_request)
        for by in (mira, thea) * 3
    ]
    assert at_once(works).count(None) == 1
    assert Charge.objects.get().state == ChargeState.HELD
    assert AuditEvent.objects.filter(action=AuditAction.APPROVAL_REQUEST_APPROVE).count() == 1
    assert Account.objects.get().held_credits() == 106


def test_approved_declined_and_taken_back_at_once_one_word_counts(
    approval_request, mira, thea, priya
):
    works = [
        lambda: actions.approve_request(by=mira, approval=approval_request),
        lambda: actions.decline_request(by=thea, approval=approval_request, reason="No."),
        lambda: actions.withdraw_request(by=priya, approval=approval_request),
    ]
    assert at_once(works).count(None) == 1
    sent = ApprovalRequest.objects.get().decision == "approved"
    assert Charge.objects.get().state == (ChargeState.HELD if sent else ChargeState.REFUSED)


def test_approving_and_charging_at_once_do_not_deadlock(
    approval_request, mira, priya, luca, budget, video
):
    budget(None, 10_000)
    budget(luca, 10_000)
    works = [
        partial(charge_within_budget, who, make_intent(video(who))) for who in (luca, priya) * 3
    ]
    found = at_once([lambda: actions.approve_request(by=mira, approval=approval_request), *works])
    assert found[0] is None
    assert found[1:] == [None, BudgetExceeded] * 3
    assert Account.objects.get().held_credits() == Decimal(106 * 4)
