"""Budgets for a label: what its videos spend, whoever makes them, never above the limit."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from dashboard.budgets.actions import approve_request
from dashboard.library.actions import change_labels, delete_label
from dashboard.models import AuditAction, AuditEvent, Budget, BudgetPeriod, Label, Membership, Role
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.budget_usage import BudgetExceeded, load_budget_usages
from dashboard.shared.charging import charge_within_budget, request_approval
from proxyapi import tasks
from proxyapi.models import Charge, Job
from proxyapi.refusals import Refusal
from tests.dashboard.budgets.conftest import drawn_form_fields, make_intent
from tests.factories import MembershipFactory

CALLS, FITTING, HOLD = 50, 10, 106


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: None)


@pytest.fixture
def acme(thea: Membership) -> Label:
    return Label.objects.create(team=thea.team, name="Acme", created_by=thea.user)


def limit(label: Label, hard: int, **fields: Any) -> Budget:
    return Budget.objects.create(team=label.team, label=label, hard=hard, **fields)


def used(budget: Budget) -> Decimal:
    return load_budget_usages(budget.team, [budget], timezone.now())[0].used


@pytest.mark.django_db(transaction=True)
def test_of_fifty_calls_at_once_exactly_as_many_pass_as_fit(
    acme: Label, priya: Membership, luca: Membership, video: Callable[..., Job]
) -> None:
    budget = limit(acme, FITTING * HOLD + HOLD - 1)
    members = (priya, luca) * (CALLS // 2)
    jobs = [video(member) for member in members]
    acme.jobs.add(*jobs)
    start = Barrier(CALLS)

    def call(member: Membership, job: Job) -> bool:
        start.wait(120)
        try:
            charge_within_budget(member, make_intent(job, HOLD))
        except BudgetExceeded:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor(CALLS) as pool:
        passed = list(pool.map(call, members, jobs))
    assert passed.count(True) == FITTING
    assert used(budget) == FITTING * HOLD
    assert Charge.objects.count() == FITTING


@pytest.mark.django_db
class TestCounting:
    def test_only_its_videos_count_and_only_they_are_refused(
        self, acme: Label, priya: Membership, video: Callable[..., Job], add_spending: Any
    ) -> None:
        budget = limit(acme, 200)
        acme.jobs.add(add_spending(priya, 90).job, add_spending(priya, 40, state="held").job)
        add_spending(priya, 500)
        assert used(budget) == 130
        of_acme = video(priya)
        acme.jobs.add(of_acme)
        with pytest.raises(BudgetExceeded) as refused:
            charge_within_budget(priya, make_intent(of_acme, 71))
        assert "70 of the label Acme’s 200 are left" in refused.value.sentence
        charge_within_budget(priya, make_intent(of_acme, 70))
        charge_within_budget(priya, make_intent(video(priya), 71))
        assert used(budget) == 200

    def test_a_video_of_two_labels_counts_for_both(
        self, acme: Label, thea: Membership, priya: Membership, video: Callable[..., Job]
    ) -> None:
        spring = Label.objects.create(team=thea.team, name="Spring", created_by=thea.user)
        wide, narrow = limit(acme, 1000), limit(spring, 150, period=BudgetPeriod.WEEK)
        job = video(priya)
        job.labels.add(acme, spring)
        charge_within_budget(priya, make_intent(job, 106))
        assert (used(wide), used(narrow)) == (106, 106)
        other = video(priya)
        other.labels.add(spring)
        with pytest.raises(BudgetExceeded, match="the label Spring’s 150"):
            charge_within_budget(priya, make_intent(other, 106))

    def test_the_question_before_a_charge_names_it(
        self, acme: Label, priya: Membership, video: Callable[..., Job]
    ) -> None:
        limit(acme, 100)
        job = video(priya)
        acme.jobs.add(job)
        impact = build_budget_impact(priya, Decimal(106), job_id=job.pk)
        assert impact is not None
        assert (impact.label, impact.left) == ("The label Acme’s budget this month", 100)
        assert impact.refusal
        assert build_budget_impact(priya, Decimal(106), job_id=video(priya).pk) is None

    def test_one_above_it_is_approved_by_a_person(
        self,
        acme: Label,
        thea: Membership,
        priya: Membership,
        video: Callable[..., Job],
        client_of: Any,
    ) -> None:
        budget = limit(acme, 100)
        job = video(priya)
        acme.jobs.add(job)
        approval = request_approval(priya, make_intent(job, 106))
        browser = client_of(thea)
        assert "100 of the label Acme’s 100 are left" in browser.get("/budgets/").content.decode()
        dialog = browser.get(f"/approval-requests/{approval.pk}/approvals/")
        assert "Left of the label Acme’s 100" in dialog.content.decode()
        drawn = drawn_form_fields(dialog)
        approve_request(by=thea, approval=approval, hard=Decimal(106), drawn=drawn)
        budget.refresh_from_db()
        assert (budget.hard, used(budget)) == (106, 106)

    def test_it_is_added_and_shown_on_the_page(
        self, acme: Label, thea: Membership, priya: Membership, client_of: Any
    ) -> None:
        browser = client_of(thea)
        sent = {"who": str(acme.pk), "period": "month", "hard": "500"}
        html = browser.post("/budgets/new/", sent, follow=True).content.decode()
        budget = Budget.objects.get()
        assert (budget.label, budget.member, budget.hard) == (acme, None, 500)
        assert "The label Acme now has a budget." in html
        assert 'colspan="7">Labels</th>' in html
        again = browser.post("/budgets/new/", sent)
        assert (again.status_code, Budget.objects.count()) == (422, 1)
        assert "Acme" in client_of(priya).get("/budgets/").content.decode()
        event = AuditEvent.objects.get(action=AuditAction.BUDGET_ADD)
        assert event.details["label"] == "Acme"
        assert "the label Acme, month" in browser.get("/audit/").content.decode()

    def test_a_label_of_another_team_is_no_choice(
        self, acme: Label, otto: Membership, client_of: Any
    ) -> None:
        sent = {"who": str(acme.pk), "period": "month", "hard": "500"}
        assert client_of(otto).post("/budgets/new/", sent).status_code == 422
        assert not Budget.objects.exists()

    def test_a_label_with_a_budget_is_not_deleted(self, acme: Label, priya: Membership) -> None:
        budget = limit(acme, 100)
        with pytest.raises(Refusal, match="has a budget"):
            delete_label(by=priya, label=acme)
        Budget.objects.filter(pk=budget.pk).update(active=False)
        delete_label(by=priya, label=acme)
        assert not Label.objects.exists()


@pytest.mark.django_db
def test_who_manages_no_budgets_takes_no_spend_out_of_one(
    acme: Label, priya: Membership, video: Callable[..., Job]
) -> None:
    owner = MembershipFactory.create(team=priya.team, role=Role.OWNER)
    charged, free = video(priya), video(priya)
    acme.jobs.add(charged, free)
    budget = limit(acme, 500)
    charge_within_budget(priya, make_intent(charged, HOLD))
    with pytest.raises(Refusal, match="counts what was spent"):
        change_labels(by=priya, job_ids=[charged.pk, free.pk], remove=[acme.pk])
    assert acme.jobs.count() == 2
    change_labels(by=priya, job_ids=[free.pk], remove=[acme.pk])
    assert (acme.jobs.get(), used(budget)) == (charged, HOLD)
    change_labels(by=owner, job_ids=[charged.pk], remove=[acme.pk])
    assert used(budget) == 0


@pytest.mark.django_db
def test_a_label_without_a_budget_is_taken_off_by_whoever_renders(
    acme: Label, priya: Membership, video: Callable[..., Job]
) -> None:
    charged = video(priya)
    acme.jobs.add(charged)
    budget = limit(acme, 500)
    charge_within_budget(priya, make_intent(charged, HOLD))
    Budget.objects.filter(pk=budget.pk).update(active=False)
    change_labels(by=priya, job_ids=[charged.pk], remove=[acme.pk])
    assert not acme.jobs.exists()
