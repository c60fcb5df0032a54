"""The keys of a member who leaves end; a token that a key runs on says so before it goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.deactivation import deactivate_member
from dashboard.members.actions.removal import remove_member
from dashboard.models import AuditEvent, Membership
from proxyapi.gateway.keys import NewKey, find_key
from proxyapi.models import ApiKey, Charge, ChargeState, Token
from tests.pages import page_text

ClientOf = Callable[[Membership], Client]


@pytest.mark.parametrize("ends", ["removed", "deactivated"])
def test_the_keys_of_who_leaves_are_revoked(
    ends: str,
    new_key: NewKey,
    spend: Callable[..., Charge],
    mira: Membership,
    priya: Membership,
    luca: Membership,
    make_key: Callable[..., ApiKey],
) -> None:
    held, kept = spend(new_key.key, hold=40), make_key("of Luca", owner=luca)
    if ends == "removed":
        assert remove_member(priya, by=mira).keys == 1
    else:
        deactivate_member(by=mira, member=priya)
    assert find_key(new_key.value, timezone.now()) is None
    kept.refresh_from_db()
    held.refresh_from_db()
    assert (kept.revoked_at, held.state) == (None, ChargeState.REFUSED)
    event = AuditEvent.objects.get(action="api_key.revoke")
    assert (event.target, event.actor_name) == (str(new_key.key.pk), str(mira.user))
    assert event.before == {"name": "nightly-shorts", "owner": str(priya.user)}


@pytest.mark.parametrize("page", ["member-removals", "member-deactivations"])
def test_the_dialog_counts_the_keys_that_end(
    page: str,
    make_key: Callable[..., ApiKey],
    mira: Membership,
    priya: Membership,
    client_of: ClientOf,
) -> None:
    url, browser = reverse(page, args=[priya.pk]), client_of(mira)
    assert "API key" not in page_text(browser.get(url).content).partition("Deactivate Priya")[2]
    make_key()
    make_key("second")
    text = page_text(browser.get(url).content)
    assert "2 API keys" in text
    assert "refused at once" in text


def test_the_removal_of_a_token_counts_the_keys_that_run_on_it(
    make_key: Callable[..., ApiKey], token: Token, priya: Membership, client_of: ClientOf
) -> None:
    make_key()
    make_key("bound", token=token)
    text = page_text(client_of(priya).get(reverse("token-removals", args=[token.pk])).content)
    assert "1 API key runs on it." in text


def test_the_stop_of_all_charges_names_scripts(mira: Membership, client_of: ClientOf) -> None:
    text = page_text(client_of(mira).get(reverse("charge-stops")).content)
    assert "for anybody or any script" in text
