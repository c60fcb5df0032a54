"""Addresses with an account and without one, each invited to a team, for
`tests.bench.known_addresses`.

`python -m tests.bench.address_seed N` migrates the database of the environment and writes N of
each.
"""

from __future__ import annotations

import sys

import django

KNOWN, UNKNOWN = "known{number}@reelroom.example", "nobody{number}@reelroom.example"


def join_path(address: str) -> str:
    """Return where the link of the invitation leads, as `InvitationFactory` makes its key."""
    return f"/join/key-of-{address}/"


def main() -> None:
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    seed_addresses(int(sys.argv[1]))
    print("{}")


def seed_addresses(count: int) -> None:
    from django.contrib.auth.hashers import make_password

    from tests.factories import InvitationFactory, MembershipFactory, TeamFactory, UserFactory

    team = TeamFactory()
    inviter = MembershipFactory(team=team).user
    password = make_password("a lantern over the ice")
    for number in range(count):
        UserFactory(email=KNOWN.format(number=number), password=password)
        for pattern in (KNOWN, UNKNOWN):
            address = pattern.format(number=number)
            InvitationFactory(team=team, address=address, invited_by=inviter)


if __name__ == "__main__":
    main()
