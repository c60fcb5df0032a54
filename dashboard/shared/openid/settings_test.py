"""Keep what a test of a team's single sign-on showed; it signs nobody in and changes no role."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from dashboard.models import (
    AuditAction,
    Membership,
    SingleSignOn,
    SingleSignOnSecret,
)
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.openid.authorization import PendingAuthorization
from dashboard.shared.openid.code_exchange import ProviderIdentity, identify_person
from dashboard.shared.openid.errors import ProviderFailed
from dashboard.shared.openid.group_roles import role_for_groups
from proxyapi.events import EventType, publish_event

MAX_GROUPS_SHOWN = 5
PASSED = "{address}, {groups}, role {role}."
REFUSED = "{address}, {groups}: no role, so sign-in would be refused."


@dataclass(frozen=True, slots=True)
class SettingsTestResult:
    """`sentence` names the person's address, groups and role, or says what failed."""

    passed: bool
    sentence: str


def record_settings_test(
    *,
    by: Membership,
    single_sign_on: SingleSignOn,
    pending: PendingAuthorization,
    query: Mapping[str, str],
) -> SettingsTestResult:
    """Identify the person, keep the result, and let a secret that waited for this test take the
    place of the current one."""
    try:
        identity = identify_person(single_sign_on, pending, query)
    except ProviderFailed as failure:
        result = SettingsTestResult(False, failure.sentence)
    else:
        result = SettingsTestResult(True, describe_identity(single_sign_on, identity))
    save_result(by, single_sign_on, pending, result)
    return result


def describe_identity(single_sign_on: SingleSignOn, identity: ProviderIdentity) -> str:
    role = role_for_groups(single_sign_on, identity.groups)
    words = {"address": identity.address, "groups": groups_text(identity.groups)}
    if role is None:
        return REFUSED.format(**words)
    return PASSED.format(**words, role=role.label.lower())


def groups_text(groups: tuple[str, ...]) -> str:
    if not groups:
        return "no groups"
    shown = [group[:40] for group in groups[:MAX_GROUPS_SHOWN]]
    if len(groups) > MAX_GROUPS_SHOWN:
        shown.append(f"{len(groups) - MAX_GROUPS_SHOWN} more")
    *rest, last = shown
    return f"groups {', '.join(rest)} and {last}" if rest else f"group {last}"


@transaction.atomic
def save_result(
    by: Membership,
    single_sign_on: SingleSignOn,
    pending: PendingAuthorization,
    result: SettingsTestResult,
) -> None:
    """The result counts for the settings that were used. It is dropped if their secret is neither
    current nor waiting any more."""
    row = SingleSignOn.objects.select_for_update().get(pk=single_sign_on.pk)
    secret = row.secrets.filter(pk=pending.secret_id).first()
    if secret is None:
        return
    if result.passed and not secret.is_current:
        make_current(row, secret)
    row.tested_at, row.test_passed = timezone.now(), result.passed
    row.test_result, row.tested_settings = (
        result.sentence[:400],
        single_sign_on.settings_hash(secret),
    )
    row.save(update_fields=["tested_at", "test_passed", "test_result", "tested_settings"])
    after = {"passed": result.passed, "result": row.test_result}
    record_audit_event(by, AuditAction.SINGLE_SIGN_ON_TEST, row.pk, after=after)
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)


def make_current(row: SingleSignOn, secret: SingleSignOnSecret) -> None:
    row.secrets.filter(is_current=True).delete()
    secret.is_current = True
    secret.save(update_fields=["is_current"])
