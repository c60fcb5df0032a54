"""Stop all charges of a team: who, why, the banner of everyone, and the end of it."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.test import Client

from dashboard.models import AuditEvent, Membership
from dashboard.operations.actions import resume_charges, stop_charges
from dashboard.shared.live.change_rendering import render_tenant_changes
from proxyapi.events import ChangeEvent, EventType
from proxyapi.models import Charge, ChargeState, Job, Tenant
from proxyapi.refusals import StaleData
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Client]
HTMX = {"HX-Request": "true"}
REASON = "A script went wild"


@pytest.fixture
def job(priya: Membership) -> Job:
    account = AccountFactory.create(tenant=priya.team.tenant, balance=Decimal(1000))
    token = TokenFactory.create(account=account, owner=priya.user)
    return JobFactory.create(account=account, token=token, member=priya.user)


def press_stop(browser: Client, reason: str = REASON) -> int:
    return browser.post("/operations/charge-stops/", {"reason": reason}).status_code


def test_a_stop_names_who_and_why_in_the_log(jonas: Membership, client_of: Browser) -> None:
    assert press_stop(client_of(jonas)) == 302
    tenant = Tenant.objects.get(pk=jonas.team.tenant_id)
    assert (tenant.charges_stopped_by, tenant.charge_stop_reason) == ("Jonas Weber", REASON)
    entry = AuditEvent.objects.get()
    assert (entry.action, entry.actor_name) == ("charges.stop", "Jonas Weber")
    assert (entry.before, entry.after) == ({"charges": "allowed"}, {"charges": "stopped"})
    assert entry.details == {"reason": REASON}


def test_everyone_in_the_team_sees_the_banner(
    mira: Membership, vera: Membership, otto: Membership, client_of: Browser
) -> None:
    stop_charges(by=mira, reason=REASON)
    text = client_of(vera).get("/members/").content.decode()
    assert "Mira Sandvik stopped all charges at" in text and REASON in text
    assert "stopped all charges" not in client_of(otto).get("/members/").content.decode()


def test_open_pages_get_the_banner_by_push(mira: Membership) -> None:
    event = ChangeEvent(mira.team.tenant_id, EventType.BUDGET, mira.team_id)
    assert "stopped all charges" not in render_tenant_changes(mira.team.tenant_id, {event})
    stop_charges(by=mira, reason=REASON)
    pushed = render_tenant_changes(mira.team.tenant_id, {event})
    assert 'id="charge-stop"' in pushed and "Mira Sandvik stopped all charges" in pushed


def test_charges_that_wait_are_released(job: Job, mira: Membership, client_of: Browser) -> None:
    charge = ChargeFactory.create(job=job, state=ChargeState.HELD, hold=Decimal(46))
    answer = client_of(mira).post("/operations/charge-stops/", {"reason": REASON}, follow=True)
    assert "Charges are stopped. One that waited was released." in answer.content.decode()
    charge.refresh_from_db()
    assert charge.state == ChargeState.REFUSED and REASON in charge.reason


@pytest.mark.parametrize("reason", ["", "   ", "a\u202eb"])
def test_a_stop_needs_a_reason(reason: str, mira: Membership, client_of: Browser) -> None:
    answer = client_of(mira).post("/operations/charge-stops/", {"reason": reason})
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    assert Tenant.objects.get(pk=mira.team.tenant_id).charges_stopped_at is None
    assert not AuditEvent.objects.exists()


def test_two_presses_stop_once(mira: Membership, jonas: Membership, client_of: Browser) -> None:
    stop_charges(by=mira, reason=REASON)
    with pytest.raises(StaleData, match="already stopped, by Mira Sandvik"):
        stop_charges(by=jonas, reason="Another")
    assert press_stop(client_of(jonas)) == 422
    assert AuditEvent.objects.count() == 1


def test_charges_are_allowed_again_with_an_entry(
    mira: Membership, jonas: Membership, client_of: Browser
) -> None:
    stop_charges(by=mira, reason=REASON)
    dialog = client_of(jonas).get("/operations/charge-resumptions/", headers=HTMX).content.decode()
    assert REASON in dialog
    answer = client_of(jonas).post("/operations/charge-resumptions/", follow=True)
    assert "Charges are allowed again." in answer.content.decode()
    entry = AuditEvent.objects.get(action="charges.resume")
    assert entry.details == {"stopped_by": "Mira Sandvik", "reason": REASON}
    assert "stopped all charges" not in client_of(mira).get("/members/").content.decode()
    with pytest.raises(StaleData):
        resume_charges(by=jonas)


def test_the_button_is_the_other_one_while_charges_are_stopped(
    mira: Membership, client_of: Browser
) -> None:
    assert "Stop all charges" in client_of(mira).get("/operations/").content.decode()
    stop_charges(by=mira, reason=REASON)
    text = client_of(mira).get("/operations/").content.decode()
    assert "Allow charges" in text and 'href="/operations/charge-stops/"' not in text
    assert not Charge.objects.exists()
