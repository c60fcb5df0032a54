"""Let a person whom the provider named into the team: as a member, or as a new one."""

from __future__ import annotations

from typing import Any

from allauth.account.adapter import get_adapter
from django.contrib.auth.hashers import make_password
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.urls import reverse

from dashboard.models import (
    AuditAction,
    AuditActorKind,
    Membership,
    Role,
    SignInEvent,
    SignInOutcome,
    SingleSignOn,
    Team,
    User,
)
from dashboard.shared.audit_log import AuditActor, append_audit_rows_last, record_audit_event
from dashboard.shared.new_members import give_new_member_budget
from dashboard.shared.notices import notify_users
from dashboard.shared.openid.code_exchange import ProviderIdentity
from dashboard.shared.openid.errors import SignInRefused
from dashboard.shared.openid.group_roles import role_for_groups
from dashboard.shared.pending_rights import end_what_role_allowed
from dashboard.shared.roles import MANAGING_PERMISSIONS, role_allows
from dashboard.shared.team_security import check_address_allowed
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal

NO_GROUP = (
    "{address} is in no group that {team} gives a role to. Ask an owner of the team, or whoever "
    "manages groups at the provider."
)
OTHER_ACCOUNT = (
    "{address} already has an account in another team. Sign in as you do there, and let an owner "
    "or admin of {team} invite you; after that single sign-on works here too."
)
DISABLED = "The account of {address} is disabled. Ask an owner or admin of {team} to invite you."
DEACTIVATED = "{address} is deactivated in {team}. An owner or admin can reactivate the member."
OTHER_SUBJECT = (
    "{address} belongs to somebody in {team} who signs in with another account at the provider. If "
    "the account was made anew there, an owner of the team removes the old link on the members "
    "page."
)
OPERATOR = "{address} belongs to an operator of this portal, who signs in with a password."


@transaction.atomic
@append_audit_rows_last()
def admit_person(single_sign_on: SingleSignOn, identity: ProviderIdentity) -> Membership:
    """Return the membership of the person, with the role of their groups; a new person joins.

    Raises `SignInRefused`; then nothing was changed.
    """
    team = single_sign_on.team
    words = {"address": identity.address, "team": team.name}
    member = find_member(single_sign_on, identity)
    if member is None or member.role != Role.OWNER:  # no group gives or takes ownership
        role = role_for_groups(single_sign_on, identity.groups)
        if role is None:
            raise SignInRefused(NO_GROUP.format(**words), identity.address, "no group with a role")
        if member is None:
            member = join_team(single_sign_on, identity, role)
        elif member.role != role:
            change_role(member, role)
    link_person(single_sign_on, identity, member.user)
    return member


def link_person(single_sign_on: SingleSignOn, identity: ProviderIdentity, user: User) -> None:
    """Keep the account at the provider that the person first signed in with. No other one opens the
    person's account after that, whatever address it has."""
    key = {"issuer": single_sign_on.issuer, "subject": identity.subject}
    try:
        link, _ = single_sign_on.links.get_or_create(**key, defaults={"user": user})
    except IntegrityError:  # another account was linked in this moment
        raise refuse_other_subject(single_sign_on, identity) from None
    if link.user_id != user.pk:
        raise refuse_other_subject(single_sign_on, identity)


def refuse_other_subject(single_sign_on: SingleSignOn, identity: ProviderIdentity) -> SignInRefused:
    words = {"address": identity.address, "team": single_sign_on.team.name}
    reason = "another account at the provider"
    return SignInRefused(OTHER_SUBJECT.format(**words), identity.address, reason)


def find_user(single_sign_on: SingleSignOn, identity: ProviderIdentity) -> User | None:
    """Return whose account at the provider it is; at the first sign-in, who has its address. Raises
    `SignInRefused` if that person is known by another account there: the address may have been
    given to somebody else."""
    links = single_sign_on.links.filter(issuer=single_sign_on.issuer).select_related("user")
    if link := links.filter(subject=identity.subject).first():
        return link.user
    user = User.objects.filter(email=identity.address).first()
    # By subject, too: a first sign-in may have been committed since the query above.
    if user is not None and links.filter(user=user).exclude(subject=identity.subject).exists():
        raise refuse_other_subject(single_sign_on, identity)
    return user


def find_member(single_sign_on: SingleSignOn, identity: ProviderIdentity) -> Membership | None:
    """Return the member whose account at the provider it is, or who has its address; None if nobody
    has.

    An account of somebody who is not in this team is refused. The owner of a team chooses its
    provider, and a provider can claim any address: with it, they would take over accounts of other
    teams. Operators are refused even as members, because their account opens every team.
    """
    team = single_sign_on.team
    user = find_user(single_sign_on, identity)
    if user is None:
        return None
    members = Membership.with_deactivated.select_for_update(of=("self",))
    member = members.select_related("user", "team").filter(team=team, user=user).first()
    sentence, reason = "", ""
    if user.is_superuser or user.is_staff:
        sentence, reason = OPERATOR, "an operator of the portal"
    elif not user.is_active:
        sentence, reason = DISABLED, "the account is disabled"
    elif member is None:
        sentence, reason = OTHER_ACCOUNT, "an account of another team"
    elif member.deactivated_at is not None:
        sentence, reason = DEACTIVATED, "deactivated in the team"
    if sentence:
        words = {"address": identity.address, "team": team.name}
        raise SignInRefused(sentence.format(**words), identity.address, reason)
    return member


def join_team(single_sign_on: SingleSignOn, identity: ProviderIdentity, role: Role) -> Membership:
    """Make an account without a password, and its membership."""
    team = single_sign_on.team
    check_domain_allowed(team, identity.address)
    name = identity.name or identity.address.partition("@")[0]
    user, is_new = User.objects.get_or_create(
        email=identity.address, defaults={"name": name, "password": make_password(None)}
    )
    # Not new: it was made a moment ago, perhaps by this person's sign-in in another tab.
    member = None if is_new else find_member(single_sign_on, identity)
    if member is None:
        member = Membership.objects.create(team=team, user=user, role=role)
        after = {"address": user.email, "role": role}
        record_audit_event(member, AuditAction.SINGLE_SIGN_ON_JOIN, user.pk, after=after)
        give_new_member_budget(member)
        notify_owners(member, f"{user} joined {team}")
        publish_event(team.tenant_id, EventType.MEMBER, team.pk)
    return member


def check_domain_allowed(team: Team, address: str) -> None:
    try:
        check_address_allowed(team, address)
    except Refusal as refusal:
        reason = "not an allowed e-mail domain"
        raise SignInRefused(refusal.sentence, address, reason) from None


def change_role(member: Membership, role: Role) -> None:
    """Give the role of the person's groups. Running renders go on; a role that is taken away must
    not last until they end."""
    before, member.role = member.role, role
    member.save(update_fields=["role"])
    team = member.team
    actor = AuditActor(team, AuditActorKind.SYSTEM, "", "Single sign-on")
    record_audit_event(
        actor,
        AuditAction.MEMBER_ROLE,
        member.user_id,
        before={"role": before},
        after={"role": role},
        person=str(member.user),
    )
    end_what_role_allowed(member, actor)
    notify_owners(member, f"{member.user} became {role.label.lower()} in {team}")
    publish_event(team.tenant_id, EventType.MEMBER, team.pk)


def notify_owners(member: Membership, title: str) -> None:
    """Notify the owners of a role that manages people or money."""
    if not any(role_allows(member.role, permission) for permission in MANAGING_PERMISSIONS):
        return
    owners = member.team.memberships.filter(role=Role.OWNER).exclude(pk=member.pk)
    notify_users(
        member.team,
        [owner.user for owner in owners.select_related("user")],
        title=title,
        text="The role comes from their groups at the identity provider.",
        url=reverse("members"),
    )


def record_refused_person(
    single_sign_on: SingleSignOn, refusal: SignInRefused, request: HttpRequest
) -> None:
    """Write a refused sign-in into the history and the team's audit log."""
    client_ip = get_adapter().get_client_ip(request)
    address = refusal.address
    actor = AuditActor(single_sign_on.team, AuditActorKind.UNKNOWN, "", address, client_ip)
    with transaction.atomic():
        SignInEvent.objects.create(
            user=User.objects.filter(email=address).first(),
            address=address,
            outcome=SignInOutcome.SSO_REFUSED,
            client_ip=client_ip,
            is_audited=True,  # below, in the one team that it concerns
        )
        details: dict[str, Any] = {"method": "single sign-on", "reason": refusal.reason}
        record_audit_event(actor, AuditAction.SIGN_IN_REFUSE, "sign-in", **details)
