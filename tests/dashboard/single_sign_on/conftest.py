"""Northlight's single sign-on at a real provider, and browsers that go through it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.test import Client
from django.urls import reverse

from dashboard.models import Membership, SingleSignOn, SingleSignOnSecret, Team
from dashboard.shared.openid.client_secret import encrypt_client_secret
from proxyapi.upstream.secret import Secret
from tests.openid_provider import OpenIDProvider, run_openid_provider

CLIENT_SECRET = "a secret that only the provider knows"
ROLES = (("video-admins", "admin"), ("finance", "treasurer"), ("studio", "producer"))


@pytest.fixture(scope="session")
def provider() -> Iterator[OpenIDProvider]:
    with run_openid_provider() as running:
        yield running


@pytest.fixture
def single_sign_on(northlight: Team, mira: Membership, provider: OpenIDProvider) -> SingleSignOn:
    """Of Northlight, at the provider: three groups with a role, nobody else."""
    return create_single_sign_on(northlight, provider.issuer)


def create_single_sign_on(team: Team, issuer: str, **fields: Any) -> SingleSignOn:
    row = SingleSignOn.objects.create(
        team=team, **{"issuer": issuer, "client_id": "reelroom", **fields}
    )
    for position, (group, role) in enumerate(ROLES):
        row.role_groups.create(position=position, group=group, role=role)
    add_secret(row, CLIENT_SECRET)
    return row


def add_secret(row: SingleSignOn, value: str, *, is_current: bool = True) -> SingleSignOnSecret:
    secret = SingleSignOnSecret(single_sign_on=row, is_current=is_current)
    encrypt_client_secret(secret, Secret(value))
    secret.save(force_insert=True)
    return secret


def provider_url(page: Any) -> str:
    """The address that a page goes on to."""
    found = re.search(r'http-equiv="refresh" content="0;url=([^"]+)"', page.content.decode())
    assert found, page.content.decode()
    return html.unescape(found[1])


def start(browser: Client, single_sign_on: SingleSignOn, **query: str) -> str:
    """The address at the provider that the browser is sent to."""
    url = reverse("team-single-sign-on", args=[single_sign_on.pk])
    return provider_url(browser.get(url, query))


def come_back(browser: Client, location: str, **options: Any) -> Any:
    """Follow the provider's redirect."""
    parts = urlsplit(location)
    assert parts.path == reverse("single-sign-on-callback")
    return browser.get(f"{parts.path}?{parts.query}", **options)


@pytest.fixture
def sign_in_at_provider(
    provider: OpenIDProvider, single_sign_on: SingleSignOn
) -> Callable[..., Any]:
    """Sign a person in at the provider, with these claims; the last page."""

    def sign_in(browser: Client, address: str, **claims: object) -> Any:
        said = {"email": address, "email_verified": True, "name": "Sam Okafor", **claims}
        subject = address.lower()
        provider.add_person(subject, **said)
        location = provider.approve(start(browser, single_sign_on), subject)
        return come_back(browser, location, follow=True)

    return sign_in
