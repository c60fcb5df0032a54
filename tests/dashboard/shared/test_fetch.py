"""Rule 8 without a page: what another team has does not exist, what a role may not do is refused.

Every route is tried in `test_access`; here each rule stands alone, so that a fault in it shows in
a second.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.http import Http404, QueryDict
from django.utils import timezone

from dashboard.models import (
    AlertEvent,
    AlertWebhook,
    ApprovalRequest,
    AuditAction,
    AuditEvent,
    Batch,
    Budget,
    Delivery,
    Label,
    Membership,
    OutsideSource,
    OwnershipTransfer,
    VersionGroup,
)
from dashboard.shared import access
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi.kinds.job_parts import store_parts
from proxyapi.models import (
    Charge,
    ChargeState,
    CreditPack,
    Idea,
    Job,
    JobKind,
    LedgerConflict,
    Token,
)
from proxyapi.stored_files import store_file
from tests.factories import (
    AccountFactory,
    ChargeFactory,
    EntryFactory,
    InvitationFactory,
    JobFactory,
    PresetFactory,
    TokenFactory,
)
from tests.storyboards import create_storyboard

Fetch = Callable[[Any], object]


def request_of(member: Membership) -> Any:
    return SimpleNamespace(team=member.team, membership=member, user=member.user)


def make_token(priya: Membership) -> Token:
    return TokenFactory(account=AccountFactory(tenant=priya.team.tenant), owner=priya.user)


def make_job(priya: Membership, **fields: Any) -> Job:
    token = make_token(priya)
    return JobFactory(account=token.account, token=token, **fields)


def make_charge(priya: Membership, **fields: Any) -> Charge:
    return ChargeFactory(job=make_job(priya), **fields)


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


def fetch_batch(priya: Membership) -> Fetch:
    batch = Batch.objects.create(team=priya.team, member=priya.user, name="Lakes")
    return lambda request: access.fetch_batch(request, batch.pk)


def fetch_preset(priya: Membership) -> Fetch:
    row = PresetFactory(team=priya.team)
    return lambda request: access.fetch_preset(request, row.pk)


def fetch_token(priya: Membership) -> Fetch:
    row = make_token(priya)
    return lambda request: access.fetch_token_to_change(request, row.pk)


def fetch_member(priya: Membership) -> Fetch:
    return lambda request: access.fetch_removable_membership(request, priya.pk)


def fetch_invitation(priya: Membership) -> Fetch:
    row = InvitationFactory(team=priya.team)
    return lambda request: access.fetch_invitation(request, row.pk)


def fetch_job(priya: Membership) -> Fetch:
    row = make_job(priya)
    return lambda request: access.fetch_job(request, row.pk, Permission.RENDER)


def fetch_hidden_job(priya: Membership) -> Fetch:
    row = make_job(priya)
    return lambda request: access.fetch_hidden_job(request, row.pk)


def fetch_selected_jobs(priya: Membership) -> Fetch:
    row = make_job(priya)
    return lambda request: access.fetch_selected_jobs(request, [row.pk])


def fetch_label(priya: Membership) -> Fetch:
    row = Label.objects.create(team=priya.team, name="Whales", created_by=priya.user)
    return lambda request: access.fetch_label(request, row.pk)


def fetch_versions(priya: Membership) -> Fetch:
    row = VersionGroup.objects.create(
        team=priya.team, difference="none", size=2, nonce=uuid.uuid4(), created_by=priya.user
    )
    return lambda request: access.fetch_version_group(request, row.pk, Permission.RENDER)


def fetch_storyboard(priya: Membership) -> Fetch:
    row = create_storyboard(priya, make_token(priya))
    return lambda request: access.fetch_storyboard(request, row.pk, Permission.RENDER)


def fetch_deleted_storyboard(priya: Membership) -> Fetch:
    row = create_storyboard(priya, make_token(priya), hidden_at=timezone.now())
    return lambda request: access.fetch_deleted_storyboard(request, row.pk)


def fetch_character(priya: Membership) -> Fetch:
    row = make_job(priya, kind=JobKind.CHARACTER)
    return lambda request: access.fetch_character(request, row.pk, Permission.RENDER)


def fetch_sample(priya: Membership) -> Fetch:
    voice = make_job(priya, kind=JobKind.CLONE, draft__settings={})
    store_file(voice, name="whales.wav", content_type="audio/wav", content=b"RIFF")
    row = voice.stored_files.get()
    return lambda request: access.fetch_sample(request, voice.pk, row.pk)


def with_fields(request: Any, **fields: object) -> Any:
    return SimpleNamespace(**vars(request), **fields)


def fetch_ideas(priya: Membership) -> Fetch:
    account = AccountFactory(tenant=priya.team.tenant)
    row = Idea.objects.create(account=account, remote_id="1", title="Deep lakes")
    posted = QueryDict(f"idea={row.pk}")
    return lambda request: access.fetch_ideas(with_fields(request, POST=posted))


def fetch_webhook(priya: Membership) -> Fetch:
    row = AlertWebhook.objects.create(team=priya.team, url="https://x.example/x", ciphertext=b"x")
    return lambda request: access.fetch_webhook(request, row.pk)


def fetch_delivery(priya: Membership) -> Fetch:
    event = AlertEvent.objects.create(team=priya.team, subject="x", state="late", title="Whales")
    row = Delivery.objects.create(
        event=event, channel="email", address="x@x.example", state="failed"
    )
    return lambda request: access.fetch_delivery(request, row.pk)


def fetch_account_to_archive(priya: Membership) -> Fetch:
    row = AccountFactory(tenant=priya.team.tenant)
    return lambda request: access.fetch_account_to_archive(request, row.pk)


def fetch_charge_to_decide(priya: Membership) -> Fetch:
    row = make_charge(priya)
    return lambda request: access.fetch_charge_to_decide(request, row.pk)


def fetch_outside_source(priya: Membership) -> Fetch:
    account = AccountFactory.create(tenant=priya.team.tenant)
    row = OutsideSource.objects.create(
        account=account, name="Nightly script", text="x", daily_limit=1, created_by=priya.user
    )
    return lambda request: access.fetch_outside_source(request, row.pk)


def fetch_audit_entry(priya: Membership) -> Fetch:
    record_audit_event(priya, AuditAction.CHARGE_CREATE, uuid.uuid4())
    row = AuditEvent.objects.get(team_id=priya.team_id)
    return lambda request: access.fetch_audit_entry(request, row.position)


# By what is fetched: who of the team may, and who may not.
CASES: dict[str, tuple[Callable[[Membership], Fetch], str, str]] = {
    "budget": (fetch_budget, "thea", "jonas"),
    "approval request": (fetch_approval, "thea", "priya"),
    "credit pack": (fetch_pack, "thea", "jonas"),
    "unknown charge": (fetch_unknown_charge, "thea", "priya"),
    "ledger conflict": (fetch_conflict, "thea", "priya"),
    "ledger entry": (fetch_entry, "vera", ""),
    "batch": (fetch_batch, "vera", ""),
    "preset": (fetch_preset, "vera", ""),
    "token": (fetch_token, "jonas", "luca"),
    "own token": (fetch_token, "priya", "thea"),
    "member": (fetch_member, "jonas", "luca"),
    "invitation": (fetch_invitation, "jonas", "thea"),
    "video": (fetch_job, "luca", "vera"),
    "deleted video": (fetch_hidden_job, "luca", "vera"),
    "selected videos": (fetch_selected_jobs, "luca", "vera"),
    "label": (fetch_label, "luca", "vera"),
    "versions": (fetch_versions, "luca", "vera"),
    "storyboard": (fetch_storyboard, "luca", "vera"),
    "deleted storyboard": (fetch_deleted_storyboard, "luca", "vera"),
    "character": (fetch_character, "luca", "vera"),
    "sample": (fetch_sample, "luca", "vera"),
    "ideas": (fetch_ideas, "luca", "vera"),
    "webhook": (fetch_webhook, "thea", "jonas"),
    "delivery": (fetch_delivery, "thea", "jonas"),
    "account": (fetch_account_to_archive, "thea", "jonas"),
    "charge": (fetch_charge_to_decide, "thea", "priya"),
    "source of outside spend": (fetch_outside_source, "thea", "jonas"),
    "audit entry": (fetch_audit_entry, "thea", ""),
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


def test_a_request_is_read_by_its_member_and_by_those_who_decide(
    priya: Membership, luca: Membership, thea: Membership
) -> None:
    charge = make_charge(priya, state=ChargeState.DRAFT)
    row = ApprovalRequest.objects.create(team=priya.team, charge=charge, member=priya.user)
    for reader in (priya, thea):
        assert access.fetch_readable_approval_request(request_of(reader), row.pk) == row
    with pytest.raises(PermissionDenied):
        access.fetch_readable_approval_request(request_of(luca), row.pk)


def test_ownership_is_accepted_by_who_was_asked_alone(
    mira: Membership, jonas: Membership, thea: Membership
) -> None:
    soon = timezone.now() + timedelta(days=7)
    people = {"from_user": mira.user, "to_user": jonas.user}
    row = OwnershipTransfer.objects.create(team=mira.team, expires_at=soon, **people)
    assert access.fetch_received_transfer(request_of(jonas), row.pk) == row
    with pytest.raises(PermissionDenied):
        access.fetch_received_transfer(request_of(thea), row.pk)


def test_a_treasurer_reads_what_is_about_money_in_the_audit_log(
    thea: Membership, jonas: Membership
) -> None:
    record_audit_event(jonas, AuditAction.CHARGE_CREATE, uuid.uuid4())
    record_audit_event(jonas, AuditAction.MEMBER_ROLE, uuid.uuid4())
    assert access.audit_entries(thea).count() == 1
    assert access.audit_entries(jonas).count() == 2


def test_labels_of_another_team_are_not_given(
    priya: Membership, otto: Membership, thea: Membership
) -> None:
    own = Label.objects.create(team=priya.team, name="Whales", created_by=priya.user)
    other = Label.objects.create(team=otto.team, name="Whales", created_by=otto.user)
    access.require_team_labels(request_of(priya), [own.pk])
    with pytest.raises(Http404):
        access.require_team_labels(request_of(priya), [own.pk, other.pk])


def test_only_the_operator_sees_every_team(mira: Membership, otto: Membership) -> None:
    with pytest.raises(Http404):
        access.fetch_any_team(request_of(mira), otto.team_id)
    mira.user.is_superuser = True
    assert access.fetch_any_team(request_of(mira), otto.team_id) == otto.team


def test_what_belongs_to_another_row_does_not_exist_below_this_one(priya: Membership) -> None:
    """A scene of its storyboard, a part of its video, a sample of its voice."""
    asker, token = request_of(priya), make_token(priya)
    board, other_board = create_storyboard(priya, token), create_storyboard(priya, token, "Fog")
    with pytest.raises(Http404):
        access.fetch_scene(asker, board.pk, other_board.scenes.get().pk)
    job, other_job = make_job(priya), make_job(priya)
    store_parts(other_job, {"assets": [{"id": 1}]}, ("assets",))
    with pytest.raises(Http404):
        access.fetch_part(asker, job.pk, other_job.parts.get().pk)
    voice, other_voice = (make_job(priya, kind=JobKind.CLONE, draft__settings={}) for _ in range(2))
    store_file(other_voice, name="whales.wav", content_type="audio/wav", content=b"RIFF")
    with pytest.raises(Http404):
        access.fetch_sample(asker, voice.pk, other_voice.stored_files.get().pk)


def test_an_unknown_row_does_not_exist(mira: Membership) -> None:
    with pytest.raises(Http404):
        access.fetch_budget(request_of(mira), uuid.uuid4())
