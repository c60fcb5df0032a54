"""The people of every test: Northlight's six, and Otto, who belongs to another team."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from dashboard.models import Membership, Role, Team
from tests.factories import MembershipFactory, TeamFactory


@pytest.fixture
def northlight(db: None) -> Team:
    return TeamFactory(name="Northlight")


def make_person_fixture(first_name: str, surname: str, role: Role) -> Callable[[Team], Membership]:
    """A fixture for one person of Northlight."""

    def member(northlight: Team) -> Membership:
        return MembershipFactory(
            team=northlight,
            role=role,
            user__name=f"{first_name} {surname}",
            user__email=f"{first_name.lower()}@northlight.example",
        )

    member.__doc__ = f"{first_name}, {role.label.lower()}."
    return pytest.fixture(member, name=first_name.lower())


mira = make_person_fixture("Mira", "Sandvik", Role.OWNER)
jonas = make_person_fixture("Jonas", "Weber", Role.ADMIN)
thea = make_person_fixture("Thea", "Lindqvist", Role.TREASURER)
priya = make_person_fixture("Priya", "Raman", Role.PRODUCER)
luca = make_person_fixture("Luca", "Moretti", Role.PRODUCER)
vera = make_person_fixture("Vera", "Costa", Role.VIEWER)


@pytest.fixture
def otto(db: None) -> Membership:
    """Owner elsewhere: what Northlight has does not exist for him."""
    return MembershipFactory(
        team=TeamFactory(name="Otherwhere"),
        role=Role.OWNER,
        user__name="Otto Fremd",
        user__email="otto@otherwhere.example",
    )


@pytest.fixture
def client_of() -> Callable[[Membership], Client]:
    """A browser in which that person has signed in."""

    def signed_in(membership: Membership) -> Client:
        client = Client()
        client.force_login(membership.user)
        return client

    return signed_in
