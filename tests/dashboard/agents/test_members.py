"""An agent can do no more than its member now: removal, another role, a pause, a stop."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.api_keys.team_rules import PortalTeamRules
from dashboard.members.actions.deactivation import deactivate_member
from dashboard.members.actions.removal import remove_member
from dashboard.models import AuditEvent, Membership, Role
from proxyapi.charges import ChargeIntent
from proxyapi.models import Account, ApiKey, Charge, ChargeState, Token
from proxyapi.operations import get_operation
from proxyapi.refusals import ChargesStopped, Refusal
from tests.factories import JobFactory
from tests.pages import page_text

Connect = Callable[..., dict[str, Any]]


@pytest.mark.parametrize("page", ["member-removals", "member-deactivations"])
def test_the_agents_of_who_leaves_end_with_what_was_not_sent(
    page: str,
    connect: Connect,
    spend: Callable[..., Charge],
    mira: Membership,
    priya: Membership,
    client_of: Callable[[Membership], Client],
) -> None:
    tokens = connect()
    agent = ApiKey.objects.get()
    held = spend(agent, hold=20)
    url = reverse(page, args=[priya.pk])
    assert "1 agent" in page_text(client_of(mira).get(url).content)
    if page == "member-removals":
        remove_member(priya, by=mira)
    else:
        deactivate_member(by=mira, member=priya)
    held.refresh_from_db()
    assert find_agent_by_token(tokens["access_token"]) is None
    assert held.state == ChargeState.REFUSED
    event = AuditEvent.objects.get(action="agent.end")
    assert (event.target, event.actor_name) == (str(agent.pk), str(mira.user))


def test_a_demoted_member_has_an_agent_that_reads(connect: Connect, priya: Membership) -> None:
    agent = find_agent_by_token(connect()["access_token"])
    assert agent is not None
    rules = PortalTeamRules()
    rules.check_access(agent, get_operation("faceless.render"))
    Membership.objects.filter(pk=priya.pk).update(role=Role.VIEWER)
    with pytest.raises(Refusal, match="may not do this in the team"):
        rules.check_access(agent, get_operation("faceless.render"))
    rules.check_access(agent, get_operation("faceless.get"))


@pytest.mark.parametrize("what", ["all charges", "those of the member"])
def test_a_stop_of_charges_holds_for_agents(
    what: str, connect: Connect, priya: Membership, account: Account, token: Token
) -> None:
    agent = find_agent_by_token(connect()["access_token"])
    assert agent is not None
    now = timezone.now()
    if what == "all charges":
        tenant = priya.team.tenant
        tenant.charges_stopped_at, tenant.charge_stop_reason = now, "Audit"
        tenant.save()
    else:
        rows = Membership.objects.filter(pk=priya.pk)
        rows.update(charges_paused_at=now, charges_paused_by="Mira", charge_pause_reason="Audit")
    job = JobFactory.create(account=account, token=token)
    price = Decimal(20)
    intent = ChargeIntent(job, "faceless.render", uuid.uuid4(), price, price, api_key=agent)
    with pytest.raises(ChargesStopped, match="Audit"):
        PortalTeamRules().charge(agent, intent)
    assert not Charge.objects.exists()
