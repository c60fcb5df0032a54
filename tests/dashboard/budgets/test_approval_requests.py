"""Over the budget: offered to ask, waiting everywhere, and the asker's own to take back."""

from __future__ import annotations

import re
import uuid
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from dashboard.models import ApprovalRequest, AuditAction, AuditEvent
from dashboard.shared.budget_usage import load_budget_usages
from dashboard.shared.charging import request_approval
from proxyapi.models import Charge, ChargeState, JobState
from proxyapi.refusals import AlreadyInProgress, StaleData
from tests.dashboard.budgets.conftest import NOON, make_intent

HTMX = {"HX-Request": "true"}


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def job(mira, thea, priya, budget, add_spending, video):
    """Priya's, of 106 credits, while 61 of her 2,500 are left."""
    budget(priya, 2500)
    add_spending(priya, 2439)
    return video(priya)


def to(job, name="studio-renders"):
    return reverse(name, args=[job.pk])


def form(job, **more):
    return {"nonce": uuid.uuid4(), "price": job.draft.estimate, **more}


def seen(browser, url, **headers):
    return browser.get(url, headers=headers).content.decode()


def test_the_question_says_what_is_left_of_the_budget(
    priya, budget, video, add_spending, client_of
):
    budget(priya, 4000, soft=2900)
    add_spending(priya, 2716)
    add_spending(priya, 106, state="held")
    html = seen(client_of(priya), to(video(priya)), **HTMX)
    assert "Your budget this month" in html
    assert "1,178 of your 4,000 left until 1 Dec" in html
    assert 'value="1072"' in html
    assert "It passes the alert at 2,900. It is sent anyway." in html
    assert "Request approval" not in html


def test_without_a_budget_the_question_has_no_line_of_one(priya, video, client_of):
    assert "Your budget" not in seen(client_of(priya), to(video(priya)), **HTMX)


def test_over_the_budget_the_question_offers_to_ask_instead(job, priya, client_of):
    html = seen(client_of(priya), to(job), **HTMX)
    assert "61 of your 2,500 are left until 1 Dec" in html
    assert "Thea or Mira can approve it." in html
    assert re.search(r'<button[^>]* name="ask" value="1"', html)
    assert "<span>Render</span>" not in html


def test_a_hand_made_render_over_the_budget_is_refused_with_the_same_words(job, priya, client_of):
    html = client_of(priya).post(to(job), form(job), headers=HTMX).content.decode()
    assert "Not sent. It needs 106 cr, and 61 of your 2,500 are left until 1 Dec." in html
    assert not Charge.objects.filter(job=job).exists()


def test_what_is_asked_for_waits_with_its_price_and_holds_nothing(job, priya, client_of):
    answer = client_of(priya).post(to(job), form(job, ask="1", note=" For the  fair. "))
    assert answer.url == f"/videos/{job.pk}/"
    charge = Charge.objects.get(job=job)
    assert (charge.state, charge.quote, charge.hold) == (ChargeState.DRAFT, 96, 106)
    approval = ApprovalRequest.objects.get()
    assert (approval.charge, approval.member, approval.note) == (
        charge,
        priya.user,
        "For the fair.",
    )
    assert AuditEvent.objects.get().action == AuditAction.APPROVAL_REQUEST_CREATE
    (standing,) = load_budget_usages(priya.team, priya.team.budgets.all(), timezone.now())
    assert standing.held == 0


def test_what_is_written_to_them_outlives_a_refusal(job, priya, client_of):
    fields = form(job, price="95", ask="1", note="For the fair.")
    html = client_of(priya).post(to(job), fields, headers=HTMX).content.decode()
    assert "Not sent. The price was 95 cr and is 96 cr now" in html
    assert re.search(r'name="note"[^>]* value="For the fair." maxlength="300"', html)


def test_it_is_shown_as_waiting_to_everybody(job, priya, thea, luca, client_of):
    client_of(priya).post(to(job), form(job, ask="1", note="For the fair."))
    assert "106 cr were requested." in seen(client_of(luca), "/library/")
    video = seen(client_of(luca), f"/videos/{job.pk}/")
    assert 'data-state="waiting"' in video
    assert "A treasurer or owner decides. Nothing is held." in video
    assert "Approve" not in video
    assert "Approve" in seen(client_of(thea), f"/videos/{job.pk}/")
    budgets = seen(client_of(thea), "/budgets/")
    assert "<bdi>Priya</bdi> requests 106 cr" in budgets
    assert "To render “Who owns the Moon?”. 61 of the 2,500 are left until 1 Dec." in budgets
    assert "“For the fair.”" in budgets
    assert "Approval requests" not in seen(client_of(luca), "/budgets/")
    mine = seen(client_of(priya), "/budgets/")
    assert "<bdi>You</bdi> request 106 cr" in mine
    assert "Withdraw request" in mine
    assert "Approve" not in mine


def test_a_form_that_comes_twice_asks_once(job, priya):
    nonce = uuid.uuid4()
    first = request_approval(priya, make_intent(job, nonce=nonce))
    assert request_approval(priya, make_intent(job, nonce=nonce)) == first
    with pytest.raises(AlreadyInProgress):
        request_approval(priya, make_intent(job))


def test_with_room_by_now_nothing_is_asked(job, priya):
    priya.team.budgets.update(hard=Decimal(5000))
    with pytest.raises(StaleData, match="It now fits the budget"):
        request_approval(priya, make_intent(job))
    assert not ApprovalRequest.objects.exists()


def test_while_it_waits_the_settings_rest(job, priya, client_of):
    browser = client_of(priya)
    browser.post(to(job), form(job, ask="1"))
    assert browser.get(f"/studio/{job.pk}/script/").url == f"/videos/{job.pk}/"


def test_members_withdraw_their_own_requests_and_no_others(job, priya, luca, otto, client_of):
    approval = request_approval(priya, make_intent(job))
    url = f"/approval-requests/{approval.pk}/withdrawals/"
    assert client_of(luca).post(url).status_code == 403
    assert client_of(otto).post(url).status_code == 404
    assert "Withdraw the request for 106 cr?" in seen(client_of(priya), url, **HTMX)
    assert client_of(priya).post(url).url == f"/videos/{job.pk}/"
    approval.refresh_from_db()
    assert (approval.decision, approval.charge.state) == ("withdrawn", ChargeState.REFUSED)
    assert client_of(priya).get(f"/studio/{job.pk}/script/").status_code == 200


def test_what_was_hidden_since_waits_without_a_link(job, priya, client_of):
    approval = request_approval(priya, make_intent(job))
    assert "View" in seen(client_of(priya), "/budgets/")
    job.hidden_at = timezone.now()
    job.save()
    html = seen(client_of(priya), "/budgets/")
    assert job.title in html
    assert "View" not in html
    assert (
        client_of(priya).post(f"/approval-requests/{approval.pk}/withdrawals/").url == "/budgets/"
    )


def test_a_retry_whose_token_does_not_open_is_not_offered_to_be_asked_for(job, priya, client_of):
    type(job).objects.filter(pk=job.pk).update(state=JobState.FAILED)
    type(job.token).objects.update(ciphertext=b"not ours")
    html = seen(client_of(priya), to(job, "video-retries"), **HTMX)
    assert "The token it was made with can no longer be decrypted." in html
    assert "Request approval" not in html


def test_a_retry_is_asked_for_the_same_way(job, priya, client_of):
    job.state = JobState.FAILED
    job.save()
    browser = client_of(priya)
    html = seen(browser, to(job, "video-retries"), **HTMX)
    assert "Over budget" in html
    assert "<span>Retry</span>" not in html
    fields = {"nonce": uuid.uuid4(), "price": "96", "ask": "1", "note": "Again"}
    browser.post(to(job, "video-retries"), fields)
    assert ApprovalRequest.objects.get().charge.operation == "faceless.retry"


def test_a_script_is_asked_for_the_same_way(job, priya, account, client_of):
    account.costs = {"CONTENT_PROMPT_REQUESTED": {"credits": 70}}
    account.save()
    browser, url = client_of(priya), to(job, "studio-scripts")
    fields = {"nonce": uuid.uuid4(), "price": "70", "topic": "The Moon", "duration": "60"}
    html = browser.post(url, fields, headers=HTMX).content.decode()
    assert "61 of your 2,500 are left" in html
    assert re.search(r'<button[^>]* name="ask" value="1"', html)
    html = browser.post(url, {**fields, "ask": "1"}, headers=HTMX).content.decode()
    assert "70 cr were requested at" in html
    assert ApprovalRequest.objects.get().charge.body["topic"] == "The Moon"
