"""The charges of one person are paused with one press, and those of their API keys with them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection
from django.urls import reverse

from dashboard.budgets.actions import approve_request
from dashboard.members.actions.charge_pause import pause_member_charges, resume_member_charges
from dashboard.models import AlertEvent, AuditAction, AuditEvent, Budget, Membership
from dashboard.shared.charge_stop import PersonPaused
from dashboard.shared.charging import charge_within_budget, request_approval
from proxyapi import tasks
from proxyapi.gateway import keys
from proxyapi.models import Charge, ChargeState, Job, KeyScope
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.budgets import conftest as budgets
from tests.dashboard.budgets.conftest import make_intent

account, token, video = budgets.account, budgets.token, budgets.video
WHY = "Runaway script"


@pytest.fixture(autouse=True)
def _no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tasks, "enqueue_task_after_commit", lambda task, id: None)


@pytest.fixture
def paused(thea: Membership, priya: Membership) -> Membership:
    pause_member_charges(by=thea, member=priya, reason=WHY)
    priya.refresh_from_db()
    return priya


def charge(by: Membership, job: Job) -> Charge:
    return charge_within_budget(by, make_intent(job, 10))


@pytest.mark.django_db
class TestPause:
    def test_nothing_is_charged_for_them_and_all_else_goes_on(
        self, paused: Membership, luca: Membership, video: Callable[..., Job]
    ) -> None:
        with pytest.raises(PersonPaused) as refused:
            charge(paused, video(paused))
        sentence = refused.value.sentence
        assert sentence.startswith("Not sent. Thea Lindqvist paused the charges of Priya Raman on")
        assert f"“{WHY}”. Nothing was charged." in sentence
        with pytest.raises(PersonPaused):
            request_approval(paused, make_intent(video(paused)))
        charge(luca, video(luca))
        assert Charge.objects.count() == 1

    def test_what_was_not_sent_is_cancelled_also_of_their_keys(
        self, thea: Membership, priya: Membership, luca: Membership, video: Callable[..., Job]
    ) -> None:
        key = keys.create_key(priya.team.tenant, priya.user_id, "k", [KeyScope.RENDER]).key
        mine, of_key, of_luca = (charge(by, video(by)) for by in (priya, priya, luca))
        Charge.objects.filter(pk=of_key.pk).update(api_key=key)
        sent = charge(priya, video(priya))
        Charge.objects.filter(pk=sent.pk).update(state=ChargeState.SENDING, sent_at=sent.held_at)
        assert pause_member_charges(by=thea, member=priya, reason=WHY) == 2
        states = dict(Charge.objects.values_list("pk", "state"))
        assert (states[mine.pk], states[of_key.pk]) == ("refused", "refused")
        assert (states[of_luca.pk], states[sent.pk]) == ("held", "sending")

    def test_a_request_of_theirs_waits_and_is_not_approved_meanwhile(
        self, thea: Membership, mira: Membership, priya: Membership, video: Callable[..., Job]
    ) -> None:
        Budget.objects.create(team=priya.team, member=priya.user, hard=50)
        approval = request_approval(priya, make_intent(video(priya)))
        pause_member_charges(by=thea, member=priya, reason=WHY)
        with pytest.raises(PersonPaused):
            approve_request(by=mira, approval=approval)
        approval.refresh_from_db()
        assert approval.is_pending
        resume_member_charges(by=mira, member=priya)
        assert approve_request(by=mira, approval=approval).decision == "approved"

    def test_it_is_audited_and_the_person_is_told(self, paused: Membership) -> None:
        event = AuditEvent.objects.get(action=AuditAction.MEMBER_CHARGES_PAUSE)
        assert (event.target, event.details["reason"]) == (str(paused.user_id), WHY)
        notice = AlertEvent.objects.get(member=paused.user)
        assert notice.title == "Thea Lindqvist paused your charges in Northlight"
        assert WHY in notice.text
        assert notice.deliveries.count() == 1

    def test_pages_of_the_person_say_so_and_no_others(
        self, paused: Membership, luca: Membership, thea: Membership, client_of: Any
    ) -> None:
        title = "Thea Lindqvist paused your charges at"
        for url in ("/library/", "/studio/"):
            html = client_of(paused).get(url).content.decode()
            assert title in html
            assert f"“{WHY}” Nothing that costs credits is sent for you" in html
            assert title not in client_of(luca).get(url).content.decode()
        assert "charges paused" in client_of(thea).get("/members/").content.decode()

    def test_one_press_with_a_reason_and_one_to_take_it_back(
        self, thea: Membership, priya: Membership, video: Callable[..., Job], client_of: Any
    ) -> None:
        browser, url = client_of(thea), reverse("member-charge-pauses", args=[priya.pk])
        assert browser.post(url, {"reason": " "}).status_code == 422
        page = browser.post(url, {"reason": WHY}, follow=True).content.decode()
        assert "Charges of Priya Raman are paused." in page
        undo = reverse("member-charge-resumptions", args=[priya.pk])
        assert page.count(f'action="{undo}"') == 2  # in the message, and in the menu
        stale = browser.post(url, {"reason": "Again"})
        assert "paused already, by Thea Lindqvist" in stale.content.decode()
        page = browser.post(undo, follow=True).content.decode()
        assert "Charges of Priya Raman are allowed again." in page
        charge(priya, video(priya))
        assert "allowed already" in browser.post(undo, follow=True).content.decode()

    def test_nobody_but_an_owner_takes_back_a_pause_of_their_own(
        self, mira: Membership, jonas: Membership, thea: Membership, priya: Membership
    ) -> None:
        with pytest.raises(PermissionDenied):
            pause_member_charges(by=priya, member=jonas, reason=WHY)
        for by in (jonas, thea):
            with pytest.raises(PermissionDenied):
                pause_member_charges(by=by, member=mira, reason=WHY)
        pause_member_charges(by=thea, member=jonas, reason=WHY)
        with pytest.raises(PermissionDenied):
            resume_member_charges(by=jonas, member=jonas)
        pause_member_charges(by=mira, member=mira, reason=WHY)
        resume_member_charges(by=mira, member=mira)
        assert not AlertEvent.objects.filter(member=mira.user).exists()

    def test_without_a_reason_or_a_member_nothing_changes(
        self, thea: Membership, priya: Membership
    ) -> None:
        with pytest.raises(Refusal, match="Say why"):
            pause_member_charges(by=thea, member=priya, reason="")
        with pytest.raises(StaleData, match="allowed already"):
            resume_member_charges(by=thea, member=priya)
        Membership.objects.filter(pk=priya.pk).delete()
        with pytest.raises(StaleData):
            pause_member_charges(by=thea, member=priya, reason=WHY)


@pytest.mark.django_db(transaction=True)
def test_of_charges_at_the_same_moment_none_is_left(
    thea: Membership, priya: Membership, video: Callable[..., Job]
) -> None:
    jobs = [video(priya) for _ in range(7)]
    start = Barrier(len(jobs) + 1)

    def run(work: Callable[[], object]) -> None:
        start.wait(120)
        try:
            work()
        except PersonPaused:
            pass
        finally:
            connection.close()

    works: list[Callable[[], object]] = [partial(charge, priya, job) for job in jobs]
    works.append(partial(pause_member_charges, by=thea, member=priya, reason=WHY))
    with ThreadPoolExecutor(len(works)) as pool:
        list(pool.map(run, works))
    assert not Charge.objects.filter(state=ChargeState.HELD).exists()
