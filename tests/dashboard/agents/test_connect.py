"""A program is connected: consent, code, tokens, the agent behind them, its end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from allauth.idp.oidc.models import Token as OAuthToken
from django.test import Client
from django.utils import timezone

from dashboard.api_keys.team_rules import PortalTeamRules
from dashboard.models import AuditEvent, Membership, Role
from dashboard.shared.audit_log import person_actor
from dashboard.shared.pending_rights import revoke_member_keys
from proxyapi.models import ApiKey, Charge, Token
from tests.dashboard.agents.conftest import Program, query_of, read_form
from tests.pages import page_text

Press = Callable[..., Any]
Connect = Callable[..., dict[str, Any]]


def find_agent(tokens: dict[str, Any]) -> ApiKey | None:
    return PortalTeamRules().find_agent_key(tokens["access_token"])


def test_metadata_names_the_endpoints_and_what_is_supported(db: None) -> None:
    server = Client().get("/.well-known/oauth-authorization-server").json()
    resource = Client().get("/.well-known/oauth-protected-resource/mcp").json()
    assert resource["resource"] == "http://localhost:8000/mcp"
    assert resource["authorization_servers"] == [server["issuer"]]
    assert server["code_challenge_methods_supported"] == ["S256"]
    assert server["token_endpoint_auth_methods_supported"] == ["none"]
    assert server["client_id_metadata_document_supported"] is True
    assert "registration_endpoint" not in server


def test_a_consent_gives_the_agent_what_was_chosen(
    press: Press, priya: Membership, token: Token, program: Program
) -> None:
    answer = press(priya, program.consent_url(), scopes=["read", "render"], credits="80", days="1")
    assert answer.status_code == 303
    given = query_of(answer)
    assert (given["state"], given["iss"]) == ("of-this-sign-in", "http://localhost:8000")
    tokens = program.exchange(given["code"]).json()
    assert tokens["scope"] == "read render"
    agent = find_agent(tokens)
    assert agent is not None
    assert (agent.owner, agent.tenant, agent.name) == (
        priya.user,
        priya.team.tenant,
        "Film helper",
    )
    assert (agent.allowance, agent.charge_limit, agent.scopes) == (80, 25, ["read", "render"])
    assert timedelta(hours=23) < agent.expires_at - timezone.now() <= timedelta(days=1)  # type: ignore[operator]
    entry = AuditEvent.objects.get(action="agent.connect")
    assert (entry.target, entry.after["credits"]) == (str(agent.pk), "80")


def test_the_defaults_are_small(connect: Connect) -> None:
    agent = find_agent(connect())
    assert agent is not None
    assert (agent.allowance, agent.charge_limit) == (50, 25)
    assert agent.expires_at is not None
    assert timedelta(days=6) < agent.expires_at - timezone.now() <= timedelta(days=7)


def test_the_page_says_who_vouches_and_that_nobody_checked(
    priya: Membership, program: Program, confirmed_client_of: Callable[..., Client]
) -> None:
    page = confirmed_client_of(priya).get(program.consent_url())
    text = page_text(page.content)
    assert "Connect Film helper?" in text
    assert "is what the program says about itself. Nobody has checked it." in text
    assert "the answer goes to a program on this computer" in text.replace("  ", " ")
    assert "127.0.0.1:" in text
    assert "Northlight" in text
    policy = page.headers["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:54321" in policy


def test_a_stranger_signs_in_first(db: None, program: Program) -> None:
    answer = Client().get(program.consent_url())
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/accounts/login/?next=/agents/consent/%3F")


def test_an_old_sign_in_is_confirmed_before_anything_is_connected(
    priya: Membership, program: Program, confirmed_client_of: Callable[..., Client]
) -> None:
    browser = confirmed_client_of(priya, age_s=3600)
    url = program.consent_url()
    answer = browser.post(url, read_form(browser.get(url).content))
    assert answer.status_code == 422
    assert not ApiKey.objects.exists()


def test_cancel_tells_the_program_and_connects_nothing(
    press: Press, priya: Membership, program: Program
) -> None:
    answer = press(priya, program.consent_url(), cancel="1")
    assert query_of(answer)["error"] == "access_denied"
    assert not ApiKey.objects.exists()


def test_a_second_consent_changes_the_same_agent_and_adds_what_it_spent(
    connect: Connect, spend: Callable[..., Charge]
) -> None:
    agent = find_agent(connect())
    assert agent is not None
    spend(agent, cost=30)
    spend(agent, hold=5)
    tokens = connect(credits="20", scopes=["read", "render"])
    again = find_agent(tokens)
    assert again is not None
    assert (again.pk, again.allowance, again.scopes) == (agent.pk, 55, ["read", "render"])
    assert ApiKey.objects.count() == 1


def test_two_members_have_two_agents_of_one_program(
    press: Press, connect: Connect, mira: Membership, program: Program
) -> None:
    first = find_agent(connect())
    second = find_agent(
        program.exchange(query_of(press(mira, program.consent_url()))["code"]).json()
    )
    assert first is not None and second is not None
    assert {first.owner_id, second.owner_id} == {
        mira.user_id,
        ApiKey.objects.get(pk=first.pk).owner_id,
    }
    assert first.pk != second.pk


@pytest.mark.parametrize("how", ["revoked", "expired", "inactive user", "member removed"])
def test_the_tokens_of_an_agent_that_ended_are_refused_at_once(
    how: str, connect: Connect, priya: Membership, program: Program
) -> None:
    tokens = connect()
    agent = find_agent(tokens)
    assert agent is not None
    if how == "revoked":
        ApiKey.objects.update(revoked_at=timezone.now())
    elif how == "expired":
        ApiKey.objects.update(expires_at=timezone.now())
    elif how == "inactive user":
        priya.user.is_active = False
        priya.user.save()
    else:
        assert revoke_member_keys(priya, person_actor(priya)) == 1
        assert AuditEvent.objects.filter(action="agent.end", target=str(agent.pk)).exists()
    assert find_agent(tokens) is None
    assert program.refresh(tokens["refresh_token"]).json() == {"error": "invalid_grant"}


def test_a_paused_agent_is_still_found(connect: Connect) -> None:
    tokens = connect()
    ApiKey.objects.update(paused_at=timezone.now())
    agent = find_agent(tokens)
    assert agent is not None
    assert agent.paused_at is not None


def test_a_treasurer_can_let_it_read_but_not_render(
    press: Press, thea: Membership, program: Program, confirmed_client_of: Callable[..., Client]
) -> None:
    url = program.consent_url()
    page = page_text(confirmed_client_of(thea).get(url).content)
    assert "It also asked for create and render. Your role cannot give that." in page
    assert press(thea, url, scopes=["read", "render"]).status_code == 422
    assert press(thea, url).status_code == 303
    assert ApiKey.objects.get().scopes == ["read"]


def test_a_viewer_cannot_connect(
    vera: Membership, program: Program, confirmed_client_of: Callable[..., Client]
) -> None:
    answer = confirmed_client_of(vera).get(program.consent_url())
    assert answer.status_code == 403
    assert "Your role cannot connect agents." in page_text(answer.content)


def test_a_member_who_is_demoted_meanwhile_connects_nothing_that_renders(
    priya: Membership, program: Program, confirmed_client_of: Callable[..., Client]
) -> None:
    browser, url = confirmed_client_of(priya), program.consent_url()
    form = read_form(browser.get(url).content)
    Membership.objects.filter(pk=priya.pk).update(role=Role.TREASURER)
    assert browser.post(url, form).status_code == 422
    assert not ApiKey.objects.exists()


def test_revocation_of_the_refresh_token_ends_the_access_token(
    connect: Connect, program: Program
) -> None:
    tokens = connect()
    values = {"client_id": program.client_id, "token": tokens["refresh_token"]}
    assert program.browser.post("/oauth/token-ends/", values).status_code == 200
    assert find_agent(tokens) is None
    assert not OAuthToken.objects.exists()


def test_a_clock_that_is_five_minutes_off_ends_nothing_early(
    connect: Connect, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = timezone.now
    for offset in (timedelta(minutes=5), timedelta(minutes=-5)):
        tokens = connect()
        monkeypatch.setattr(timezone, "now", lambda by=offset: real() + by)
        assert find_agent(tokens) is not None
        assert find_agent(program.refresh(tokens["refresh_token"]).json()) is not None
        monkeypatch.setattr(timezone, "now", real)


def test_the_value_of_an_agent_is_no_api_key(connect: Connect) -> None:
    agent = find_agent(connect())
    assert agent is not None
    assert (agent.prefix, agent.last_four, agent.allowance) == ("", "", Decimal(50))
