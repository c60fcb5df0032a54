"""Two people who act at the same moment: a team keeps an owner, a link joins one time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from threading import Barrier

import pytest
from django.core.exceptions import PermissionDenied
from django.db import connection

from dashboard.members.actions.deactivation import deactivate_member
from dashboard.members.actions.invitations import invite_people
from dashboard.members.actions.joining import accept_invitation
from dashboard.members.actions.ownership import accept_ownership, request_ownership_transfer
from dashboard.members.actions.removal import remove_member
from dashboard.members.actions.roles import change_member_role
from dashboard.models import AuditEvent, Invitation, Membership, Role
from proxyapi.refusals import Refusal
from tests.dashboard.security.people import give_second_factor
from tests.factories import InvitationFactory, MembershipFactory, UserFactory

pytestmark = pytest.mark.django_db(transaction=True)
SAM = "sam.okafor@northlight.example"


def run_at_once(works: Sequence[Callable[[], object]]) -> None:
    start = Barrier(len(works))

    def run(work: Callable[[], object]) -> None:
        start.wait(120)
        try:
            with suppress(Refusal, PermissionDenied, Membership.DoesNotExist):
                work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        for done in [pool.submit(run, work) for work in works]:
            done.result()


def owners_of(member: Membership) -> int:
    return Membership.objects.filter(team=member.team, role=Role.OWNER).count()


def test_two_owners_who_demote_each_other_leave_one(mira: Membership) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    run_at_once(
        [
            partial(change_member_role, by=mira, member=second, role=Role.VIEWER),
            partial(change_member_role, by=second, member=mira, role=Role.VIEWER),
        ]
    )
    assert owners_of(mira) == 1


def test_of_three_owners_who_demote_each_other_in_a_circle_who_was_demoted_demotes_nobody(
    mira: Membership,
) -> None:
    second, third = MembershipFactory.create_batch(2, team=mira.team, role=Role.OWNER)
    run_at_once(
        [
            partial(change_member_role, by=mira, member=second, role=Role.VIEWER),
            partial(change_member_role, by=second, member=third, role=Role.VIEWER),
            partial(change_member_role, by=third, member=mira, role=Role.VIEWER),
        ]
    )
    demoted = AuditEvent.objects.filter(action="member.role").order_by("position")
    actors = list(demoted.values_list("actor_id", flat=True))
    targets = list(demoted.values_list("target", flat=True))
    assert 0 < len(actors) < 3
    assert not any(actor in targets[:place] for place, actor in enumerate(actors))


def test_two_owners_who_leave_or_remove_each_other_leave_one(mira: Membership) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    run_at_once([partial(remove_member, mira, by=mira), partial(remove_member, second, by=mira)])
    assert owners_of(mira) == 1


def test_two_owners_who_deactivate_each_other_leave_one(mira: Membership) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    run_at_once(
        [
            partial(deactivate_member, by=mira, member=second),
            partial(deactivate_member, by=second, member=mira),
        ]
    )
    assert owners_of(mira) == 1


def test_an_owner_is_left_if_one_is_deactivated_while_the_other_leaves_or_is_demoted(
    mira: Membership,
) -> None:
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    run_at_once(
        [
            partial(deactivate_member, by=mira, member=second),
            partial(remove_member, mira, by=mira),
            partial(change_member_role, by=second, member=mira, role=Role.VIEWER),
        ]
    )
    assert owners_of(mira) == 1


def test_an_ownership_that_is_accepted_while_its_giver_leaves_has_an_owner(
    mira: Membership, jonas: Membership
) -> None:
    give_second_factor(jonas)
    transfer = request_ownership_transfer(by=mira, to=jonas)
    second = MembershipFactory.create(team=mira.team, role=Role.OWNER)
    run_at_once(
        [
            partial(accept_ownership, by=jonas, transfer=transfer),
            partial(change_member_role, by=second, member=mira, role=Role.VIEWER),
            partial(remove_member, second, by=second),
        ]
    )
    assert owners_of(mira) >= 1


def test_a_link_that_is_used_twice_at_once_joins_one_time(mira: Membership) -> None:
    invitation = InvitationFactory.create(team=mira.team, address=SAM, invited_by=mira.user)
    user = UserFactory.create(email=SAM)
    run_at_once([partial(accept_invitation, invitation=invitation, user=user)] * 2)
    assert Membership.objects.filter(team=mira.team, user=user).count() == 1


def test_an_address_that_two_invite_at_once_gets_one_invitation(
    mira: Membership, jonas: Membership
) -> None:
    def invite(by: Membership) -> None:
        invite_people(by=by, addresses=[SAM], role=Role.VIEWER, message="")

    run_at_once([partial(invite, mira), partial(invite, jonas)])
    assert Invitation.objects.pending().count() == 1
