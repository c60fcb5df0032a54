"""Members whose streams end, for `tests.bench.stream_ends`.

`seed N` migrates the database of the environment and prints, as JSON, for each ending the ids and
session cookies of N members. `run` reads lines "ending<tab>id", does it as the team's owner, and
prints when it began, as time.monotonic().
"""

from __future__ import annotations

import json
import sys
import time

import django

# The last without an event, which is lost without Redis: only the regular check finds it.
ENDINGS = ("removed", "deactivated", "signed-out", "silently signed-out")
OWNER = "owner@reelroom.example"


def main() -> None:
    django.setup()
    if sys.argv[1] == "seed":
        print(json.dumps(seed_members(int(sys.argv[2]))))
    else:
        run_endings()


def seed_members(count: int) -> dict[str, list[tuple[str, str]]]:
    from django.conf import settings
    from django.core.management import call_command
    from django.test import Client

    from dashboard.models import Membership, Role
    from tests.factories import MembershipFactory, TeamFactory

    call_command("migrate", verbosity=0)
    team = TeamFactory()
    MembershipFactory(team=team, role=Role.OWNER, user__email=OWNER)

    def sign_in(member: Membership) -> tuple[str, str]:
        browser = Client()
        browser.force_login(member.user)
        cookie = browser.cookies[settings.SESSION_COOKIE_NAME].OutputString()
        return str(member.pk), cookie.partition(";")[0]

    return {
        ending: [sign_in(member) for member in MembershipFactory.create_batch(count, team=team)]
        for ending in ENDINGS
    }


def run_endings() -> None:
    from dashboard.members.actions.deactivation import deactivate_member
    from dashboard.members.actions.removal import remove_member, sign_member_out
    from dashboard.models import Membership
    from dashboard.shared.user_sessions import delete_sessions

    owner = Membership.objects.get(user__email=OWNER)
    for line in sys.stdin:
        ending, id = line.split("\t")
        member = Membership.objects.get(pk=int(id))
        began = time.monotonic()
        if ending == "removed":
            remove_member(member, by=owner)
        elif ending == "deactivated":
            deactivate_member(by=owner, member=member)
        elif ending == "signed-out":
            sign_member_out(by=owner, member=member)
        else:
            delete_sessions(member.user)
        print(began, flush=True)


if __name__ == "__main__":
    main()
