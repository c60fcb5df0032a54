"""Set up a team's single sign-on, replace its secret, require it, remove it.

Only owners may: whoever chooses the provider can sign in as any member of the team.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db import transaction

from dashboard.models import (
    AuditAction,
    Membership,
    SingleSignOn,
    SingleSignOnGroup,
    SingleSignOnSecret,
)
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.openid.client_secret import encrypt_client_secret
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import Refusal, StaleData
from proxyapi.upstream.secret import Secret

NOT_TESTED = "Not changed. Test the settings as they are saved first."
REMOVED_MEANWHILE = "Single sign-on was removed meanwhile. Nothing was changed."


@dataclass(frozen=True, slots=True)
class SingleSignOnSettings:
    """`groups`: pairs of a group and its role, the first match counts."""

    issuer: str
    client_id: str
    groups_claim: str
    default_role: str
    groups: tuple[tuple[str, str], ...]

    @property
    def provider(self) -> tuple[str, str, str]:
        """Return what decides whether a sign-in works at all."""
        return self.issuer, self.client_id, self.groups_claim


@transaction.atomic
@append_audit_rows_last()
def save_single_sign_on(*, by: Membership, new: SingleSignOnSettings) -> bool:
    """Save the settings; return False if nothing changed.

    Another provider ends the requirement, because nobody has passed a test with it: members who
    are not owners would be locked out by a wrong client ID. Another issuer does not know the
    accounts that members were linked to.
    """
    check_permission(by, Permission.MANAGE_TEAM)
    row = SingleSignOn.objects.select_for_update().filter(team=by.team).first()
    before = current_settings(row) if row else None
    if before == new:
        return False
    if row is None:
        row = SingleSignOn(team=by.team, created_by=by.user)
    was_required = row.is_required
    row.is_required = was_required and before is not None and before.provider == new.provider
    row.issuer, row.client_id, row.groups_claim = new.provider
    row.default_role = new.default_role
    row.save()
    row.links.exclude(issuer=row.issuer).delete()
    row.role_groups.all().delete()
    SingleSignOnGroup.objects.bulk_create(
        SingleSignOnGroup(single_sign_on=row, position=position, group=group, role=role)
        for position, (group, role) in enumerate(new.groups)
    )
    record_audit_event(
        by,
        AuditAction.SINGLE_SIGN_ON_CHANGE,
        row.pk,
        before=audit_details(before) if before else {},
        after=audit_details(new),
    )
    if was_required and not row.is_required:
        record_requirement(by, row)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    return True


def current_settings(row: SingleSignOn) -> SingleSignOnSettings:
    groups = row.role_groups.order_by("position").values_list("group", "role")
    return SingleSignOnSettings(
        row.issuer, row.client_id, row.groups_claim, row.default_role, tuple(groups)
    )


def audit_details(values: SingleSignOnSettings) -> dict[str, Any]:
    return {
        "issuer": values.issuer,
        "client_id": values.client_id,
        "groups_claim": values.groups_claim,
        "default_role": values.default_role or "no access",
        "roles": ", ".join(f"{group}: {role}" for group, role in values.groups),
    }


@transaction.atomic
@append_audit_rows_last()
def set_client_secret(*, by: Membership, secret: Secret) -> bool:
    """Encrypt a new secret; return whether it waits for a test. The first one counts at once, a
    later one takes the place of the current one when a test passes with it."""
    row = lock_single_sign_on(by)
    has_current = row.secrets.filter(is_current=True).exists()
    row.secrets.filter(is_current=False).delete()
    new = SingleSignOnSecret(single_sign_on=row, is_current=not has_current, set_by=by.user)
    encrypt_client_secret(new, secret)
    new.save(force_insert=True)
    before = {"client_secret": "set" if has_current else "not set"}
    after = {"client_secret": "replaced, waits for a test" if has_current else "set"}
    record_audit_event(by, AuditAction.SINGLE_SIGN_ON_SECRET, row.pk, before=before, after=after)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    return has_current


@transaction.atomic
@append_audit_rows_last()
def require_single_sign_on(*, by: Membership, is_required: bool) -> bool:
    """Require single sign-on of all members but owners, or stop it; False if nothing changed.
    Raises `Refusal` unless a test passed with the settings as they are saved."""
    row = lock_single_sign_on(by)
    if row.is_required == is_required:
        return False
    if is_required and not row.is_tested():
        raise Refusal(NOT_TESTED)
    row.is_required = is_required
    row.save(update_fields=["is_required"])
    record_requirement(by, row)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    return True


def record_requirement(by: Membership, row: SingleSignOn) -> None:
    before, after = {"required": not row.is_required}, {"required": row.is_required}
    record_audit_event(by, AuditAction.SINGLE_SIGN_ON_REQUIRE, row.pk, before=before, after=after)


@transaction.atomic
@append_audit_rows_last()
def remove_single_sign_on(*, by: Membership) -> None:
    """Delete the settings and the secret. Members without a password reset theirs by mail."""
    row = lock_single_sign_on(by)
    before = {**audit_details(current_settings(row)), "required": row.is_required}
    before["client_secret"] = "removed" if row.secrets.exists() else "not set"
    record_audit_event(by, AuditAction.SINGLE_SIGN_ON_REMOVE, row.pk, before=before)
    row.delete()
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


def lock_single_sign_on(by: Membership) -> SingleSignOn:
    check_permission(by, Permission.MANAGE_TEAM)
    row = SingleSignOn.objects.select_for_update().filter(team=by.team).first()
    if row is None:
        raise StaleData(REMOVED_MEANWHILE)
    return row
