"""A raise of a limit for a time: it counts at once and falls back by itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
import time_machine
from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.budgets.actions import end_due_raises, end_raise, raise_budget
from dashboard.budgets.actions.approvals import approve_request
from dashboard.models import AuditAction, AuditEvent, Budget, Membership
from dashboard.shared.budget_usage import BudgetExceeded, load_budget_usages
from dashboard.shared.charging import charge_within_budget, request_approval
from proxyapi import tasks
from proxyapi.models import Job
from proxyapi.refusals import Refusal, StaleData
from tests.cases import each_case
from tests.dashboard.budgets.conftest import NOON, drawn_form_fields, make_intent

pytestmark = [pytest.mark.django_db, pytest.mark.postgresql]
EVENING = datetime(2026, 11, 20, 17, 0, tzinfo=UTC)  # 18:00 in Berlin


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: None)
    with time_machine.travel(NOON, tick=False) as traveller:
        yield traveller


@pytest.fixture
def hundred(priya: Membership, budget: Callable[..., Budget]) -> Budget:
    priya.team.tenant.time_zone = "Europe/Berlin"
    priya.team.tenant.save()
    return budget(priya, 100)


def raise_it(by: Membership, budget: Budget, amount: int = 50, **fields: Any) -> None:
    given = {"amount": Decimal(amount), "until": EVENING, **fields}
    raise_budget(by=by, budget=budget, **given)


def hard(budget: Budget) -> Decimal | None:
    row = Budget.objects.get(pk=budget.pk)
    return load_budget_usages(row.team, [row], timezone.now())[0].hard


def test_it_counts_at_once_and_ends_at_its_time_without_a_worker(
    hundred: Budget, thea: Membership, priya: Membership, video: Callable[..., Job], clock: Any
) -> None:
    raise_it(thea, hundred)
    charge_within_budget(priya, make_intent(video(priya), 120))
    clock.move_to(EVENING - timedelta(microseconds=1))
    assert hard(hundred) == 150
    charge_within_budget(priya, make_intent(video(priya), 30))
    clock.move_to(EVENING)
    assert hard(hundred) == 100
    with pytest.raises(BudgetExceeded, match="0 of your 100 are left"):
        charge_within_budget(priya, make_intent(video(priya), 1))


def test_its_end_is_written_down_once_by_the_portal(
    hundred: Budget, thea: Membership, clock: Any, client_of: Any
) -> None:
    raise_it(thea, hundred)
    assert end_due_raises() == 0
    clock.move_to(EVENING)
    assert (end_due_raises(), end_due_raises()) == (1, 0)
    hundred.refresh_from_db()
    assert (hundred.hard, hundred.raise_amount, hundred.raise_until) == (100, None, None)
    begun, ended = AuditEvent.objects.order_by("position")
    assert (begun.action, begun.actor_name) == (AuditAction.BUDGET_RAISE, "Thea Lindqvist")
    assert begun.after == {
        "hard": "150",
        "raise_amount": "50",
        "raise_until": "20 Nov 2026, 18:00",
    }
    assert (ended.action, ended.actor_kind) == (AuditAction.BUDGET_RAISE_END, "system")
    assert (ended.before["hard"], ended.after["hard"]) == ("150", "100")
    html = client_of(thea).get("/budgets/").content.decode()
    assert "raised Priya Raman’s monthly budget to 150 cr until 20 Nov 2026, 18:00." in html
    assert "set Priya Raman’s monthly budget back to 100 cr." in html


def test_the_dialog_takes_the_time_of_the_team_and_the_page_shows_it(
    hundred: Budget, thea: Membership, priya: Membership, client_of: Any
) -> None:
    browser = client_of(thea)
    url = f"/budgets/{hundred.pk}/raises/"
    drawn = drawn_form_fields(browser.get(url))
    sent = {"amount": "50", "until": "2026-11-20T18:00", "drawn": drawn}
    assert browser.post(url, sent).url == "/budgets/"
    hundred.refresh_from_db()
    assert hundred.raise_until == EVENING
    for reader in (thea, priya):
        html = client_of(reader).get("/budgets/").content.decode()
        assert "Raised by 50 until Fri 20 Nov, 18:00" in html
        assert "Of 150" in html
    stale = browser.post(url, {**sent, "amount": "70"})
    assert stale.status_code == 422
    assert "This budget was changed" in stale.content.decode()
    again = {**sent, "amount": "70", "drawn": drawn_form_fields(stale)}
    assert browser.post(url, again).status_code == 302
    assert hard(hundred) == 170
    assert browser.post(f"/budgets/{hundred.pk}/raise-ends/").status_code == 302
    assert hard(hundred) == 100
    assert (
        "is not raised any more"
        in browser.post(f"/budgets/{hundred.pk}/raise-ends/", follow=True).content.decode()
    )


@each_case(
    "sent, sentence",
    [
        ({"until": "2026-11-20T12:59"}, "Enter a time in the future."),
        ({"until": "2027-11-23T12:00"}, "A raise ends within a year."),
        ({"until": ""}, "Enter a date and a time"),
        ({"until": "tomorrow"}, "Enter a date and a time"),
        ({"amount": ""}, "Enter a whole number of credits from 1"),
        ({"amount": "0"}, "Enter a whole number of credits from 1"),
        ({"amount": "-5"}, "Enter a whole number of credits from 1"),
    ],
)
def test_what_is_no_raise_is_refused_in_a_sentence(
    hundred: Budget, thea: Membership, client_of: Any, sent: dict[str, str], sentence: str
) -> None:
    good = {"amount": "50", "until": "2026-11-20T18:00", "drawn": ""}
    answer = client_of(thea).post(f"/budgets/{hundred.pk}/raises/", {**good, **sent})
    assert answer.status_code == 422
    assert sentence in answer.content.decode()
    assert hard(hundred) == 100


def test_what_has_no_limit_or_was_removed_is_not_raised(
    hundred: Budget, thea: Membership, budget: Callable[..., Budget]
) -> None:
    with pytest.raises(Refusal, match="no limit to raise"):
        raise_it(thea, budget(None, soft=50))
    Budget.objects.filter(pk=hundred.pk).update(active=False)
    with pytest.raises(StaleData, match="removed"):
        raise_it(thea, hundred)
    with pytest.raises(StaleData, match="removed"):
        end_raise(by=thea, budget=hundred)


def test_the_database_keeps_amount_and_end_together(hundred: Budget) -> None:
    for fields in ({"raise_amount": 5}, {"raise_until": EVENING}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Budget.objects.filter(pk=hundred.pk).update(**fields)


def test_an_approval_that_raises_a_raised_limit_lets_it_fit_exactly(
    hundred: Budget, thea: Membership, priya: Membership, video: Callable[..., Job]
) -> None:
    raise_it(thea, hundred)
    approval = request_approval(priya, make_intent(video(priya), 160))
    approve_request(by=thea, approval=approval, hard=Decimal(160))
    hundred.refresh_from_db()
    assert (hundred.hard, hard(hundred)) == (110, 160)
