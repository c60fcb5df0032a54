"""Allowed e-mail domains: how they are typed, whom they concern, who stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from dashboard.models import AuditEvent, Invitation, Membership, TeamSecurity
from dashboard.security.actions.domains import MAX_ALLOWED_DOMAINS, TOO_MANY_DOMAINS
from dashboard.shared import email_domains
from dashboard.shared.email_domains import display_domain, is_address_allowed, parse_domain
from dashboard.shared.team_security import check_new_address_allowed
from proxyapi.refusals import Refusal
from tests.factories import InvitationFactory, MembershipFactory, TeamFactory

ClientOf = Callable[..., Client]
ADD, REMOVE = "/security/domains/", "/security/domains/removals/"


def allow(member: Membership, *domains: str) -> None:
    TeamSecurity.objects.create(team=member.team, allowed_domains=list(domains))


def listed(member: Membership) -> list[str]:
    return TeamSecurity.objects.get(team=member.team).allowed_domains


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("northlight.example", "northlight.example"),
        ("  @Northlight.EXAMPLE. ", "northlight.example"),
        ("mail.northlight.example", "mail.northlight.example"),
        ("bücher.example", "xn--bcher-kva.example"),
        ("BÜCHER.example", "xn--bcher-kva.example"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("例え.テスト", "xn--r8jz45g.xn--zckzah"),
    ],
)
def test_a_domain_is_stored_in_ascii_and_lower_case(typed: str, stored: str) -> None:
    assert parse_domain(typed) == stored


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("mira@northlight.example", "Enter only what follows the @, such as northlight.example."),
        ("*.northlight.example", email_domains.NO_WILDCARD),
        ("192.0.2.7", email_domains.NO_IP_ADDRESS),
        ("[2001:db8::1]", email_domains.NO_IP_ADDRESS),
        ("localhost", email_domains.NOT_A_DOMAIN),
        ("north light.example", email_domains.NOT_A_DOMAIN),
        ("north_light.example", email_domains.NOT_A_DOMAIN),
        ("-north.example", email_domains.NOT_A_DOMAIN),
        ("north..example", email_domains.NOT_A_DOMAIN),
        ("northlight.123", email_domains.NOT_A_DOMAIN),
        ("a" * 64 + ".example", email_domains.NOT_A_DOMAIN),
        ("https://northlight.example/", email_domains.NOT_A_DOMAIN),
        ("@", email_domains.NOT_A_DOMAIN),
    ],
)
def test_what_is_no_domain_is_refused_with_the_reason(typed: str, sentence: str) -> None:
    with pytest.raises(Refusal) as refused:
        parse_domain(typed)
    assert refused.value.sentence == sentence


def test_a_stored_domain_is_shown_as_people_write_it() -> None:
    assert display_domain("xn--bcher-kva.example") == "bücher.example"
    assert display_domain("xn--a.example") == "xn--a.example"


@pytest.mark.parametrize(
    ("address", "is_allowed"),
    [
        ("mira@northlight.example", True),
        ("Mira@NORTHLIGHT.example", True),
        ("mira@bücher.example", True),
        ("mira@mail.northlight.example", False),
        ("mira@evil-northlight.example", False),
        ("northlight.example@evil.example", False),
        ("mira", False),
    ],
)
def test_an_address_is_compared_by_its_whole_domain(address: str, is_allowed: bool) -> None:
    domains = ["northlight.example", "xn--bcher-kva.example"]
    assert is_address_allowed(address, domains) is is_allowed
    assert is_address_allowed(address, [])


def test_a_domain_is_added_and_removed_and_both_are_audited(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    browser = confirmed_client_of(mira)
    page = browser.post(ADD, {"domain": "@Bücher.example"}, follow=True).content.decode()
    assert "Addresses at bücher.example are allowed." in page
    assert listed(mira) == ["xn--bcher-kva.example"]
    browser.post(ADD, {"domain": "northlight.example"})
    browser.post(REMOVE, {"removed": "xn--bcher-kva.example"})
    assert listed(mira) == ["northlight.example"]
    rows = AuditEvent.objects.filter(action="team.domains").order_by("position")
    assert [row.after["allowed_domains"] for row in rows] == [
        ["xn--bcher-kva.example"],
        ["northlight.example", "xn--bcher-kva.example"],
        ["northlight.example"],
    ]


def test_a_wrong_domain_is_kept_in_the_field_with_the_reason(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    response = confirmed_client_of(mira).post(ADD, {"domain": "north light"})
    page = response.content.decode()
    assert response.status_code == 422
    assert email_domains.NOT_A_DOMAIN in page
    assert 'value="north light"' in page
    assert not TeamSecurity.objects.exists()


def test_of_a_field_that_comes_twice_the_last_counts(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    form = {"domain": ["first.example", "last.example"]}
    confirmed_client_of(mira).post(f"{ADD}?domain=query.example", form)
    assert listed(mira) == ["last.example"]


def test_a_domain_twice_is_said_and_one_too_many_is_refused(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    allow(mira, *(f"d{number}.example" for number in range(MAX_ALLOWED_DOMAINS)))
    browser = confirmed_client_of(mira)
    twice = browser.post(ADD, {"domain": "d1.example"}, follow=True).content.decode()
    assert "d1.example is in the list already." in twice
    more = browser.post(ADD, {"domain": "more.example"}, follow=True).content.decode()
    assert TOO_MANY_DOMAINS in more
    assert len(listed(mira)) == MAX_ALLOWED_DOMAINS


def test_only_addresses_of_these_domains_are_invited(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    allow(mira, "northlight.example", "xn--bcher-kva.example")
    form = {"addresses": "sam@northlight.example, ada@elsewhere.example", "role": "producer"}
    response = confirmed_client_of(mira).post("/members/invitations/", form)
    sentence = "ada@elsewhere.example: Northlight only accepts addresses at northlight.example or"
    assert f"{sentence} bücher.example." in response.content.decode()
    assert Invitation.objects.get().address == "sam@northlight.example"


def test_members_and_invitations_from_before_are_named_and_stay(
    mira: Membership, confirmed_client_of: ClientOf
) -> None:
    MembershipFactory(team=mira.team, user__email="accounts@harbour.example")
    soon = timezone.now() + timedelta(days=3)
    InvitationFactory(team=mira.team, address="sam@harbour.example", expires_at=soon)
    allow(mira, "northlight.example")
    page = confirmed_client_of(mira).get("/security/").content.decode()
    assert "accounts@harbour.example is a member and stays one." in page
    assert "sam@harbour.example was invited before and can still join." in page
    invitation = Invitation.objects.get()
    resent = confirmed_client_of(mira).post(
        f"/members/invitations/{invitation.pk}/mails/", follow=True
    )
    assert "only accepts addresses at northlight.example" in resent.content.decode()


def test_a_new_address_of_a_member_must_suit_each_of_their_teams(priya: Membership) -> None:
    other = MembershipFactory(team=TeamFactory(name="Brightcut"), user=priya.user)
    check_new_address_allowed(priya.user, "priya@anywhere.example")
    allow(other, "brightcut.example")
    check_new_address_allowed(priya.user, "priya@brightcut.example")
    with pytest.raises(Refusal, match="Brightcut only accepts addresses at brightcut"):
        check_new_address_allowed(priya.user, "priya@northlight.example")
