"""A suspended team: its members see the reason, nothing is charged, renders stay watched."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.instance.actions import restore_team, suspend_team
from dashboard.models import AuditEvent
from dashboard.shared.live.change_rendering import render_tenant_changes
from dashboard.shared.live.stream_sessions import StreamSession, expired_sessions
from proxyapi.charges.charge_stop import check_charges_allowed
from proxyapi.charges.dispatch import dispatch_charge
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import Charge, ChargeState, Tenant
from proxyapi.polling import due_work
from proxyapi.refusals import ChargesStopped, StaleData
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    JobFactory,
    MembershipFactory,
    TokenFactory,
)

pytestmark = pytest.mark.postgresql

REASON = "The invoice was not paid"
HTMX = {"HX-Request": "true"}


@pytest.fixture
def job(otto):
    """A render of Otto's team."""
    account = AccountFactory.create(tenant=otto.team.tenant, balance=Decimal(1000))
    token = TokenFactory.create(account=account, owner=otto.user)
    return JobFactory.create(account=account, token=token, member=otto.user)


@pytest.fixture
def suspended(operator, otto):
    suspend_team(by=operator, team=otto.team, reason=REASON)
    otto.team.tenant.refresh_from_db()
    return otto


@pytest.mark.parametrize("path", ["/", "/library/", "/tokens/", "/members/"])
def test_members_see_the_reason_instead_of_every_page(path, suspended, client_of):
    page = client_of(suspended).get(path)
    assert page.status_code == 403
    text = page.content.decode()
    assert "Otherwhere is suspended" in text and REASON in text and "Mira Sandvik" in text


def test_nothing_is_changed_while_it_is_suspended(suspended, client_of):
    answer = client_of(suspended).post(reverse("team-time-zone"), {"time_zone": "Asia/Tokyo"})
    assert answer.status_code == 403
    assert Tenant.objects.get(pk=suspended.team.tenant_id).time_zone != "Asia/Tokyo"


def test_open_pages_get_the_notice_by_push_and_reload(suspended, client_of):
    event = ChangeEvent(suspended.team.tenant_id, EventType.BUDGET, suspended.team_id)
    pushed = render_tenant_changes(suspended.team.tenant_id, {event})
    assert "This team is suspended." in pushed and 'hx-trigger="load"' in pushed
    answer = client_of(suspended).get("/", headers=HTMX)
    assert answer.headers["HX-Refresh"] == "true"
    assert client_of(suspended).get("/live/").status_code == 204


def test_streams_of_the_team_end_at_the_next_check(suspended, client_of):
    browser = client_of(suspended)
    key = browser.session.session_key
    session = StreamSession(suspended.team.tenant_id, suspended.team_id, suspended.user_id, key)
    assert expired_sessions({session}) == frozenset()  # the push that tells of it arrives
    assert expired_sessions({session}, end_suspended=True) == {session}


def test_nothing_is_charged_and_what_waits_is_released(operator, otto, job):
    charge = ChargeFactory.create(
        job=job, state=ChargeState.HELD, hold=Decimal(42), held_at=timezone.now()
    )
    suspend_team(by=operator, team=otto.team, reason=REASON)
    assert Charge.objects.get(pk=charge.pk).state == ChargeState.REFUSED
    with pytest.raises(ChargesStopped, match=REASON):
        check_charges_allowed(otto.team.tenant_id)


def test_a_worker_sends_nothing_of_a_suspended_team(suspended, job):
    """Its charge was admitted a moment before."""
    charge = ChargeFactory.create(
        job=job, state=ChargeState.HELD, hold=Decimal(42), held_at=timezone.now()
    )
    dispatch_charge(charge.pk)
    charge.refresh_from_db()
    assert (charge.state, charge.sent_at) == (ChargeState.REFUSED, None)


def test_running_renders_stay_watched(suspended, job):
    job.state, job.remote_id = "running", "123"
    job.started_at = timezone.now() - timedelta(minutes=2)
    job.next_poll_at = timezone.now() - timedelta(seconds=1)
    job.save()
    assert [id for id, _ in due_work.lease_due_jobs()] == [job.pk]


def test_the_other_team_of_a_member_stays_open(suspended, northlight, client_of):
    MembershipFactory.create(team=northlight, user=suspended.user)
    browser = client_of(suspended)
    assert "Go to" in browser.get("/").content.decode()
    browser.post(reverse("team"), {"team": str(northlight.pk)})
    assert browser.get("/").status_code == 200


def test_an_operator_ends_the_suspension_of_their_own_team(operator, client_of):
    suspend_team(by=operator, team=operator.team, reason=REASON)
    browser = client_of(operator)
    assert browser.get("/").status_code == 403
    page = browser.get(reverse("instance"))
    assert page.status_code == 200
    assert 'hx-trigger="load"' not in page.content.decode().partition('id="charge-stop"')[2][:300]
    restore_team(by=operator, team=operator.team)
    assert browser.get("/").status_code == 200


def test_both_are_in_the_audit_log_of_the_team(operator, suspended):
    restore_team(by=operator, team=suspended.team)
    events = AuditEvent.objects.filter(team_id=suspended.team_id).order_by("position")
    assert [event.action for event in events] == ["team.suspend", "team.restore"]
    assert {event.actor_name for event in events} == {"Mira Sandvik"}
    assert {event.details["reason"] for event in events} == {REASON}


def test_a_second_press_is_refused(operator, suspended):
    with pytest.raises(StaleData, match="suspended already, by Mira Sandvik"):
        suspend_team(by=operator, team=suspended.team, reason=REASON)
    restore_team(by=operator, team=suspended.team)
    with pytest.raises(StaleData, match="not suspended"):
        restore_team(by=operator, team=suspended.team)


def test_a_stop_by_the_team_itself_outlives_the_suspension(operator, suspended):
    stopped = {"charges_stopped_at": timezone.now(), "charge_stop_reason": "ours"}
    Tenant.objects.filter(pk=suspended.team.tenant_id).update(**stopped)
    restore_team(by=operator, team=suspended.team)
    with pytest.raises(ChargesStopped, match="ours"):
        check_charges_allowed(suspended.team.tenant_id)


def test_the_dialog_asks_for_reason_and_password(operator, otto, client_of):
    operator.user.set_password("four words in a row")
    operator.user.save()
    browser, url = client_of(operator), reverse("team-suspensions", args=[otto.team_id])
    assert "Suspend <bdi>Otherwhere</bdi>?" in browser.get(url).content.decode()
    for form in ({"reason": REASON}, {"password": "four words in a row"}):
        assert browser.post(url, form).status_code == 422
    assert Tenant.objects.get(pk=otto.team.tenant_id).suspended_at is None
    both = {"reason": REASON, "password": "four words in a row"}
    assert browser.post(url, both).url == reverse("instance")
    assert REASON in browser.get(reverse("instance")).content.decode()


@pytest.mark.parametrize("fields", [{"suspended_at": timezone.now()}, {"suspension_reason": "x"}])
def test_the_database_wants_time_and_reason_together(fields, otto):
    with pytest.raises(IntegrityError), transaction.atomic():
        Tenant.objects.filter(pk=otto.team.tenant_id).update(**fields)
