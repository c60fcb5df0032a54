"""A render that starts later: sent once at its time or when the credits are free, at a price that
was confirmed, or not at all and with a reason."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from dashboard.alerts.member_notifications import notify_members
from dashboard.models import AlertEvent, Budget, PlannedRender, Role
from dashboard.shared.start_times import CREDITS_NOT_FREE, StartTime
from dashboard.studio import actions
from dashboard.studio.planned_renders import TIME_MISSED, continue_planned_render
from dashboard.studio.scheduled_renders import cancel_scheduled_render, schedule_render
from proxyapi.models import Account, Draft, Job, TokenState
from proxyapi.refusals import Refusal, StaleData
from tests.dashboard.studio.conftest import SCRIPT, get_page, job_url, step_url
from tests.dashboard.studio.planned import fresh, hidden_fields, price_draft, render_charges

pytestmark = pytest.mark.postgresql
SEEN = Decimal(96)


def schedule(by, job, **ahead):
    start = StartTime(timezone.now() + timedelta(**ahead))
    schedule_render(by=by, job=fresh(job), seen=SEEN, start=start)


def schedule_for_credits(by, job):
    now = timezone.now()
    start = StartTime(now, now + timedelta(days=14))
    schedule_render(by=by, job=fresh(job), seen=SEEN, start=start)


def time_comes(job):
    """Its time has come; workers look at it twice."""
    PlannedRender.objects.filter(job=job).update(starts_at=timezone.now())
    for _ in range(2):
        continue_planned_render(job.pk)


def price_gets_old(job):
    Draft.objects.filter(pk=job.pk).update(estimate_as_of=timezone.now() - timedelta(hours=3))


def ended_reason(job):
    plan = PlannedRender.objects.get(job=job)
    assert plan.ended_at is not None
    return plan.reason


def test_nothing_is_sent_or_held_before_its_time(priya, ready):
    schedule(priya, ready, hours=2)
    continue_planned_render(ready.pk)
    assert not render_charges(ready)
    plan = PlannedRender.objects.get()
    assert (plan.member, plan.limit, plan.is_scheduled) == (priya.user, 106, True)
    assert list(PlannedRender.objects.due()) == []


def test_it_is_sent_once_at_its_time(priya, ready):
    schedule(priya, ready, hours=2)
    time_comes(ready)
    (render,) = render_charges(ready)
    assert (render.quote, render.hold, render.member) == (96, 106, priya.user)
    assert not PlannedRender.objects.exists()


def test_an_old_price_is_requested_again_first(priya, ready):
    schedule(priya, ready, hours=2)
    price_gets_old(ready)
    time_comes(ready)
    assert not render_charges(ready)
    draft = Draft.objects.get(pk=ready.pk)
    assert (draft.estimate, draft.quote_due_at is None) == (None, False)
    price_draft(ready, 90)
    time_comes(ready)
    assert [charge.quote for charge in render_charges(ready)] == [90]


def test_a_price_above_what_was_confirmed_is_not_sent(priya, ready):
    schedule(priya, ready, hours=2)
    price_gets_old(ready)
    time_comes(ready)
    price_draft(ready, 97)
    time_comes(ready)
    assert not render_charges(ready)
    assert "107 cr would be held, more than the 106 cr that were confirmed" in ended_reason(ready)
    for _ in range(2):
        notify_members(priya.team_id)
    assert AlertEvent.objects.filter(notification="render_not_sent").count() == 1


def test_a_change_of_the_draft_ends_it(priya, ready):
    schedule(priya, ready, hours=2)
    actions.save_draft_step(by=priya, job=fresh(ready), changes={"script": f"{SCRIPT} more"})
    assert ended_reason(ready) == actions.PLAN_ENDED_BY_CHANGE
    price_draft(ready)
    time_comes(ready)
    assert not render_charges(ready)


def test_a_change_that_no_step_made_ends_it_too(priya, ready):
    schedule(priya, ready, hours=2)
    draft = Draft.objects.get(pk=ready.pk)
    draft.settings = draft.sent_settings = {**draft.settings, "script": "Other words."}
    draft.save()
    time_comes(ready)
    assert ended_reason(ready) == actions.PLAN_ENDED_BY_CHANGE


def member_leaves(job):
    job.tenant.team.memberships.filter(user=job.member).update(role=Role.VIEWER)


def token_is_revoked(job):
    job.token.state, job.token.state_since = TokenState.REVOKED, timezone.now()
    job.token.save()


def credits_are_gone(job):
    Account.objects.update(balance=Decimal(100))


def portal_was_off(job):
    PlannedRender.objects.update(expires_at=timezone.now())


@pytest.mark.parametrize(
    ("happen", "reason"),
    [
        (member_leaves, "Priya is no longer in the team"),
        (token_is_revoked, "The token of this draft does not work."),
        (credits_are_gone, "Not sent. It needs 106 cr; 100 are free."),
        (portal_was_off, TIME_MISSED),
    ],
)
def test_what_stands_in_its_way_at_the_time_ends_it(priya, ready, happen, reason):
    schedule(priya, ready, hours=2)
    happen(ready)
    time_comes(ready)
    assert ended_reason(ready).startswith(reason)
    assert not render_charges(ready)


def test_it_waits_until_credits_and_budgets_carry_it(priya, ready):
    Account.objects.update(balance=Decimal(105))
    Budget.objects.create(team=priya.team, member=priya.user, period="month", hard=105)
    schedule_for_credits(priya, ready)
    for balance in (105, 500):
        Account.objects.update(balance=Decimal(balance))
        time_comes(ready)
        assert PlannedRender.objects.get().is_scheduled
    Budget.objects.update(hard=106)
    time_comes(ready)
    assert [charge.hold for charge in render_charges(ready)] == [106]


def test_it_gives_up_after_two_weeks(priya, ready):
    Account.objects.update(balance=Decimal(10))
    schedule_for_credits(priya, ready)
    PlannedRender.objects.update(expires_at=timezone.now())
    time_comes(ready)
    assert ended_reason(ready) == CREDITS_NOT_FREE


def test_a_person_renders_it_sooner(priya, ready):
    schedule(priya, ready, hours=2)
    actions.render_video(by=priya, job=fresh(ready), nonce=uuid.uuid4(), seen=SEEN)
    time_comes(ready)
    assert len(render_charges(ready)) == 1
    with pytest.raises(Refusal):
        schedule(priya, ready, hours=2)


def test_it_is_confirmed_at_the_price_that_was_shown(priya, ready):
    with pytest.raises(StaleData, match="The price was 90 cr and is 96 cr now"):
        schedule_render(
            by=priya, job=fresh(ready), seen=Decimal(90), start=StartTime(timezone.now())
        )


def test_what_needs_a_second_person_is_not_planned(priya, ready):
    priya.team.second_person_above = Decimal(105)
    priya.team.save()
    with pytest.raises(Refusal, match="More than 105 cr at once need a second person"):
        schedule(priya, ready, hours=2)
    assert not PlannedRender.objects.exists()


def test_a_second_press_of_cancel_says_that_it_has_ended(priya, ready):
    schedule(priya, ready, hours=2)
    cancel_scheduled_render(by=priya, job=ready)
    with pytest.raises(StaleData):
        cancel_scheduled_render(by=priya, job=ready)


@pytest.fixture
def confirmed(priya, ready: Job, client_of):
    """Priya's browser, in which she confirmed a render in January of next year."""
    browser, url = client_of(priya), job_url(ready, "renders")
    question = get_page(browser, url)
    at = f"{timezone.now().year + 1}-01-04T09:00"
    answer = browser.post(url, {**hidden_fields(question), "when": "at", "at": at})
    assert answer["Location"] == step_url(ready, "review")
    return browser


def test_the_pages_of_the_draft_say_when_and_cancel_it(confirmed, ready):
    for step in ("review", "script", "voice"):
        page = get_page(confirmed, step_url(ready, step))
        assert f"Starts on 4 Jan {timezone.now().year + 1}, 09:00 UTC." in page
    assert "readonly" not in get_page(confirmed, step_url(ready, "script"))
    page = confirmed.post(job_url(ready, "schedule-cancellations"), follow=True)
    assert not PlannedRender.objects.exists()
    undo = job_url(ready, "schedule-restorations")
    assert f'action="{undo}"' in page.content.decode()


def test_a_cancel_is_undone_once(confirmed, ready, priya):
    before = PlannedRender.objects.values().get()
    confirmed.post(job_url(ready, "schedule-cancellations"))
    confirmed.post(job_url(ready, "schedule-restorations"))
    assert PlannedRender.objects.values().get() == before
    PlannedRender.objects.all().delete()
    page = confirmed.post(job_url(ready, "schedule-restorations"), follow=True)
    assert "was not planned again" in page.content.decode()
    assert not PlannedRender.objects.exists()


def test_a_cancel_is_not_undone_for_another_draft_or_after_a_change(confirmed, ready, priya):
    confirmed.post(job_url(ready, "schedule-cancellations"))
    actions.save_draft_step(by=priya, job=fresh(ready), changes={"script": f"{SCRIPT} more"})
    page = confirmed.post(job_url(ready, "schedule-restorations"), follow=True)
    assert "was not planned again" in page.content.decode()
    assert not PlannedRender.objects.exists()


def test_without_credits_the_page_offers_to_render_later(priya, ready, client_of):
    Account.objects.update(balance=Decimal(105))
    browser = client_of(priya)
    assert "Render later" in get_page(browser, step_url(ready, "review"))
    url = job_url(ready, "renders")
    question = get_page(browser, url)
    assert 'value="now" disabled' in question
    now = browser.post(url, {**hidden_fields(question), "when": "now"})
    assert "105 are free" in now.content.decode()
    browser.post(url, {**hidden_fields(question), "when": "credits"})
    assert PlannedRender.objects.get().waits_for_credits
    assert "Starts when the credits are free." in get_page(browser, step_url(ready, "review"))


def test_an_approval_is_for_now(priya, ready, client_of):
    Budget.objects.create(team=priya.team, member=priya.user, period="month", hard=60)
    browser, url = client_of(priya), job_url(ready, "renders")
    fields = hidden_fields(get_page(browser, url))
    answer = browser.post(url, {**fields, "ask": "1", "note": "", "when": "credits"})
    assert "What is approved is sent at once." in answer.content.decode()
    assert not PlannedRender.objects.exists()


def test_beyond_a_budget_it_may_wait_for_the_next_period(priya, ready, client_of):
    Budget.objects.create(team=priya.team, member=priya.user, period="month", hard=60)
    browser, url = client_of(priya), job_url(ready, "renders")
    question = get_page(browser, url)
    assert "Request approval" in question
    assert "Start later" in question
    refused = browser.post(url, {**hidden_fields(question), "when": "now"})
    assert "60 are left" in refused.content.decode() or "60 of your 60" in refused.content.decode()
    browser.post(url, {**hidden_fields(question), "when": "credits"})
    time_comes(ready)
    assert not render_charges(ready)
    Budget.objects.update(hard=200)
    time_comes(ready)
    assert len(render_charges(ready)) == 1
