"""Browsers whose person confirmed a moment ago who they are, as after a sign-in."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from allauth.account.internal.flows import login
from allauth.account.internal.userkit import user_id_to_str
from django.contrib.auth.hashers import make_password
from django.test import Client

from dashboard.models import Membership

PASSWORD = "a lantern over the ice"


@pytest.fixture
def confirmed_client_of(client_of: Callable[[Membership], Client]) -> Callable[..., Client]:
    """A browser in which that person signed in with the password, now or some seconds ago."""

    def signed_in(membership: Membership, age_s: float = 0) -> Client:
        browser = client_of(membership)
        record_proof(browser, membership, age_s)
        return browser

    return signed_in


def record_proof(browser: Client, membership: Membership, age_s: float = 0) -> None:
    """As if the person had given the password in this session, some seconds ago."""
    session = browser.session
    given = {"method": "password", "at": time.time() - age_s}
    session[login.AUTHENTICATION_METHODS_SESSION_KEY] = [given]
    session[login._AUTHENTICATION_METHODS_USER_SESSION_KEY] = user_id_to_str(membership.user)
    session.save()


@pytest.fixture
def mira_has_password(mira: Membership) -> Membership:
    """Mira, with PASSWORD."""
    mira.user.password = make_password(PASSWORD)
    mira.user.save()
    return mira
