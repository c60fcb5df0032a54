"""Allowed domains hold for a new address of a member too: when it is entered and when confirmed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.account.actions.profile import confirm_email_change
from dashboard.account.email_confirmations import build_confirmation_key
from dashboard.models import Membership, TeamSecurity
from proxyapi.refusals import Refusal

ClientOf = Callable[..., Client]


def test_a_new_address_of_another_domain_is_refused_where_it_is_entered(
    priya: Membership, confirmed_client_of: ClientOf
) -> None:
    TeamSecurity.objects.create(team=priya.team, allowed_domains=["northlight.example"])
    browser = confirmed_client_of(priya)
    form = {"name": "Priya Raman", "email": "priya@elsewhere.example"}
    response = browser.post("/account/profile/", form)
    assert "Northlight only accepts addresses at northlight.example." in response.content.decode()
    priya.user.refresh_from_db()
    assert not priya.user.pending_email
    form["email"] = "priya.raman@northlight.example"
    browser.post("/account/profile/", form)
    priya.user.refresh_from_db()
    assert priya.user.pending_email == "priya.raman@northlight.example"


def test_the_address_that_one_has_is_no_new_one(
    priya: Membership, confirmed_client_of: ClientOf
) -> None:
    TeamSecurity.objects.create(team=priya.team, allowed_domains=["elsewhere.example"])
    form = {"name": "Priya R.", "email": priya.user.email}
    confirmed_client_of(priya).post("/account/profile/", form)
    priya.user.refresh_from_db()
    assert priya.user.name == "Priya R."


def test_a_link_does_not_confirm_an_address_that_is_not_accepted_any_more(
    priya: Membership,
) -> None:
    user = priya.user
    user.pending_email, user.pending_email_at = "priya@elsewhere.example", timezone.now()
    user.save()
    key = build_confirmation_key(user)
    TeamSecurity.objects.create(team=priya.team, allowed_domains=["northlight.example"])
    with pytest.raises(Refusal, match="only accepts addresses at northlight"):
        confirm_email_change(key)
    user.refresh_from_db()
    assert user.email == "priya@northlight.example"
