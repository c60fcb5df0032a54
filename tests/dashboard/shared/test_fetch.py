"""Rule 8 without a page: what another team has does not exist, what a role may not do is refused.

Every route is tried in `test_access`; here each rule stands alone, so that a fault in it shows in
a second.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils import timezone

from dashboard.models import ApprovalRequest, Budget, Membership
from dashboard.shared import access
from dashboard.shared.roles import Permission
from proxyapi.models import Charge, ChargeState, CreditPack, LedgerConflict
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    InvitationFactory,
    JobFactory,
    PresetFactory,
    TokenFactory,
)

Fetch = Callable[[Any], object]


def request_of(member: Membership) -> Any:
    return SimpleNamespace(team=member.team, membership=member, user=member.user)


def make_charge(priya: Membership, **fields: Any) -> Charge:
    account = AccountFactory(tenant=priya.team.tenant)
    job = JobFactory(account=account, token=TokenFactory(account=account, owner=priya.user))
    return ChargeFactory(job=job, **fields)


def fetch_budget(priya: Membership) -> Fetch:
    row = Budget.objects.create(team=priya.team, member=priya.user, hard=Decimal(100))
    return lambda request: access.fetch_budget(request, row.pk)


def fetch_approval(priya: Membership) -> Fetch:
    charge = make_charge(priya, state=ChargeState.DRAFT)
    row = ApprovalRequest.objects.create(team=priya.team, charge=charge, member=priya.user)
    return lambda request: access.fetch_approval_request(request, row.pk)


def fetch_pack(priya: Membership) -> Fetch:
    row = CreditPack.objects.create(
        tenant=priya.team.tenant, plan_id=7, name="A thousand", credits=1000, price=Decimal(10)
    )
    return lambda request: access.fetch_credit_pack(request, row.pk)


def fetch_unknown_charge(priya: Membership) -> Fetch:
    row = make_charge(priya, state=ChargeState.UNKNOWN, sent_at=timezone.now())
    return lambda request: access.fetch_unknown_charge(request, row.pk)


def fetch_conflict(priya: Membership) -> Fetch:
    row = LedgerConflict.objects.create(
        account=AccountFactory(tenant=priya.team.tenant), position=0, before={}
    )
    return lambda request: access.fetch_ledger_conflict(request, row.pk)


def fetch_entry(priya: Membership) -> Fetch:
    row = EntryFactory(account=AccountFactory(tenant=priya.team.tenant))
    return lambda request: access.fetch_ledger_entry(request, row.account_id, row.position)


def fetch_preset(priya: Membership) -> Fetch:
    row = PresetFactory(team=priya.team)
    return lambda request: access.fetch_preset(request, row.pk)


def fetch_token(priya: Membership) -> Fetch:
    row = TokenFactory(account=AccountFactory(tenant=priya.team.tenant), owner=priya.user)
    return lambda request: access.fetch_token_to_change(request, row.pk)


def fetch_member(priya: Membership) -> Fetch:
    return lambda request: access.fetch_removable_membership(request, priya.pk)


def fetch_invitation(priya: Membership) -> Fetch:
    row = InvitationFactory(team=priya.team)
    return lambda request: access.fetch_invitation(request, row.pk)


# By what is fetched: who of the team may, and who may not.
CASES: dict[str, tuple[Callable[[Membership], Fetch], str, str]] = {
    "budget": (fetch_budget, "thea", "jonas"),
    "approval request": (fetch_approval, "thea", "priya"),
    "credit pack": (fetch_pack, "thea", "jonas"),
    "unknown charge": (fetch_unknown_charge, "thea", "priya"),
    "ledger conflict": (fetch_conflict, "thea", "priya"),
    "ledger entry": (fetch_entry, "vera", ""),
    "preset": (fetch_preset, "vera", ""),
    "token": (fetch_token, "jonas", "luca"),
    "own token": (fetch_token, "priya", "thea"),
    "member": (fetch_member, "jonas", "luca"),
    "invitation": (fetch_invitation, "jonas", "thea"),
}


@pytest.mark.parametrize("name", CASES)
def test_a_row_is_fetched_by_who_may_and_by_nobody_else(
    name: str, priya: Membership, otto: Membership, request: pytest.FixtureRequest
) -> None:
    make, allowed, refused = CASES[name]
    fetch = make(priya)
    assert fetch(request_of(request.getfixturevalue(allowed)))
    with pytest.raises(Http404):
        fetch(request_of(otto))
    if refused:
        with pytest.raises(PermissionDenied):
            fetch(request_of(request.getfixturevalue(refused)))


def test_a_request_is_withdrawn_by_its_member_alone(priya: Membership, mira: Membership) -> None:
    charge = make_charge(priya, state=ChargeState.DRAFT)
    row = ApprovalRequest.objects.create(team=priya.team, charge=charge, member=priya.user)
    assert access.fetch_own_approval_request(request_of(priya), row.pk) == row
    with pytest.raises(PermissionDenied):
        access.fetch_own_approval_request(request_of(mira), row.pk)


def test_an_admin_does_not_remove_an_owner(mira: Membership, jonas: Membership) -> None:
    with pytest.raises(PermissionDenied):
        access.fetch_removable_membership(request_of(jonas), mira.pk)


def test_what_only_some_roles_see_does_not_exist_for_the_others(vera: Membership) -> None:
    with pytest.raises(Http404):
        access.require_visible(vera, Permission.OPERATE)


def test_an_unknown_row_does_not_exist(mira: Membership) -> None:
    with pytest.raises(Http404):
        access.fetch_budget(request_of(mira), uuid.uuid4())
