"""Ciphertexts that were swapped decrypt nothing, are reported, and break no page."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from dashboard import tasks
from dashboard.models import AuditEvent, Membership
from dashboard.studio.queries.price import RenderRequirement, build_draft_price, build_render_button
from proxyapi import calls
from proxyapi.calls import TokenUnusable
from proxyapi.models import Job, Token
from tests.factories import AccountFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql

ClientOf = Callable[[Membership], Client]
SHUT = "Cannot be decrypted: add it again"


@pytest.fixture
def draft(priya: Membership, luca: Membership) -> Job:
    """Priya's, whose token's seal and Luca's were put into each other's row."""
    account = AccountFactory.create(tenant=priya.team.tenant)
    hers = TokenFactory.create(account=account, owner=priya.user)
    his = TokenFactory.create(account=account, owner=luca.user)
    for token, other in ((hers, his), (his, hers)):
        Token.objects.filter(pk=token.pk).update(ciphertext=other.ciphertext)
    return JobFactory.create(account=account, token=hers)


def test_the_pages_of_their_owners_answer_and_say_that_the_token_does_not_open(
    draft: Job, priya: Membership, luca: Membership, client_of: ClientOf
) -> None:
    browser = client_of(priya)
    tokens, step, members = (
        browser.get(address)
        for address in (
            reverse("tokens"),
            reverse("studio-step", args=[draft.pk, "voice"]),
            reverse("members"),
        )
    )
    assert (tokens.status_code, step.status_code, members.status_code) == (200, 200, 200)
    assert tokens.content.decode().count(SHUT) == 2
    assert "Your stored token cannot be decrypted." in step.content.decode()
    assert SHUT in members.content.decode()
    price = browser.post(reverse("studio-price", args=[draft.pk]))
    assert price.status_code < 500
    his = client_of(luca).get(reverse("studio-step", args=[draft.pk, "voice"])).content.decode()
    assert "Priya’s stored token cannot be decrypted." in his


def test_no_render_is_offered_with_it(draft: Job, priya: Membership) -> None:
    price = build_draft_price(Job.objects.get(pk=draft.pk))
    assert RenderRequirement("The token of this draft does not work", "late") in price.requirements
    assert not build_render_button(price, priya).ready


def test_no_script_is_offered_with_it(draft: Job, priya: Membership, client_of: ClientOf) -> None:
    html = client_of(priya).get(reverse("studio-step", args=[draft.pk, "script"])).content.decode()
    assert "The token of this draft does not work." in html
    button = re.search(r"<button[^>]*>(?:(?!</button>).)*Write the script", html, re.S)
    assert button
    assert " disabled" in button[0].partition(">")[0]


def test_it_is_written_down_once_however_often_it_is_met(draft: Job) -> None:
    for _ in range(3):
        with pytest.raises(TokenUnusable):
            calls.decrypt_for_call(Token.objects.get(pk=draft.token_id))
        tasks.evaluate_alerts(str(draft.tenant.team.pk))
    rows = AuditEvent.objects.filter(team_id=draft.tenant.team.pk, action="token.undecryptable")
    assert set(rows.values_list("actor_kind", "actor_id")) == {("system", "")}
    assert sorted(rows.values_list("target", flat=True)) == sorted(
        str(token.pk) for token in Token.objects.all()
    )


def test_another_change_of_the_same_row_is_written_down_too_and_one_that_opens_is_not(
    draft: Job,
) -> None:
    team, token = draft.tenant.team, Token.objects.get(pk=draft.token_id)
    tasks.evaluate_alerts(str(team.pk))
    TokenFactory.create(account=draft.account, owner=token.owner)
    Token.objects.filter(pk=token.pk).update(ciphertext=bytes(token.ciphertext)[:-1])
    tasks.evaluate_alerts(str(team.pk))
    assert AuditEvent.objects.filter(action="token.undecryptable").count() == 3
