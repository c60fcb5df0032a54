"""Create, change, pause, rotate and revoke API keys, each with its audit row. A value is in no row
and no message: `NewKey` alone has it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from dashboard.models import AuditAction, Membership, Team
from dashboard.shared import pending_rights
from dashboard.shared.access import KeyRight, check_permission, key_rights
from dashboard.shared.audit_log import (
    AuditActor,
    append_audit_rows_last,
    person_actor,
    record_audit_event,
)
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from proxyapi.events import EventType, publish_event
from proxyapi.gateway import keys
from proxyapi.gateway.keys import NewKey
from proxyapi.models import ApiKey, KeyScope, Token
from proxyapi.models.account import amount_text
from proxyapi.refusals import NotReady, Refusal, StaleData, TokenRefused, format_credits

NAME_TAKEN = "You have an API key with this name already. Give this one another."
REVOKED = "This API key was revoked. Nothing was changed."
CHANGED_MEANWHILE = (
    "Somebody changed this API key meanwhile. Nothing was saved. Your values are below; save again "
    "to apply them."
)
ROTATED_MEANWHILE = "This API key was rotated meanwhile. Nothing was changed."
ONLY_LOWER = "You can lower the limits of a colleague’s API key, not raise them. It is {now} now."
TOKEN_NOT_USABLE = "This token cannot be used now. Choose another."  # noqa: S105
NO_RIGHT = "Your role cannot do this with this API key."
LIMIT_FIELDS = ("daily_limit", "monthly_limit")
EDITED_FIELDS = (
    *("name", "token", "scopes", *LIMIT_FIELDS),
    *("requests_per_minute", "networks", "expires_at"),
)


@sensitive_variables("new")
@transaction.atomic
def create_api_key(
    *,
    by: Membership,
    name: str,
    scopes: Collection[KeyScope],
    token: Token | None = None,
    recorded_as: AuditActor | None = None,
    **settings: Any,
) -> NewKey:
    """Create a key of the member. `token` is the one that it runs on, None for their best one;
    `settings` are further fields. The audit log names `recorded_as` instead of `by` if it is given.

    Raises `Refusal` if the member has a key with this name, `TokenRefused` without a usable token.
    """
    check_permission(by, Permission.RENDER)
    # Two presses at once must not create two keys with one name.
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    check_name_is_free(by, name)
    if token is None:
        require_member_token(by)
    else:
        check_own_token(by.user_id, token)
    new = keys.create_key(by.team.tenant, by.user_id, name, scopes, token=token, **settings)
    after = {field: audit_value(new.key, field) for field in EDITED_FIELDS}
    after = {label_of(field): value for field, value in after.items() if value not in (None, [])}
    actor = recorded_as or person_actor(by)
    record_audit_event(actor, AuditAction.API_KEY_CREATE, new.key.pk, after=after)
    publish_change(new.key)
    return new


def check_name_is_free(by: Membership, name: str) -> None:
    own = active_keys(by).filter(owner=by.user_id, client_id="")
    if own.filter(name=name).exists():
        raise Refusal(NAME_TAKEN, field="name")


def active_keys(by: Membership) -> QuerySet[ApiKey]:
    return ApiKey.objects.active(timezone.now()).filter(tenant=by.team.tenant_id)


def check_own_token(owner_id: int, token: Token) -> None:
    if not Token.objects.usable().filter(pk=token.pk, owner=owner_id).exists():
        raise TokenRefused(TOKEN_NOT_USABLE, field="token")


@transaction.atomic
@append_audit_rows_last()
def update_api_key(
    *, by: Membership, key: ApiKey, values: Mapping[str, Any], drawn: str
) -> tuple[str, ...]:
    """Save fields of a key and return the names of those that changed. `drawn` is the
    `settings_version` that the form was built from.

    Raises `StaleData` if it is another one now, `Refusal` for a name that is taken, and for a limit
    that who may only lower it would raise.
    """
    key = lock_key(by, key, KeyRight.EDIT, KeyRight.LIMIT)
    if settings_version(key) != drawn:
        raise StaleData(CHANGED_MEANWHILE)
    changed = tuple(name for name, value in values.items() if getattr(key, name) != value)
    if KeyRight.EDIT not in key_rights(by, key):
        check_lowers(key, {name: values[name] for name in changed})
    if "name" in changed:
        check_name_is_free(by, values["name"])
    if "token" in changed and values["token"] is not None:
        check_own_token(key.owner_id, values["token"])
    before = {name: audit_value(key, name) for name in changed}
    for name in changed:
        setattr(key, name, values[name])
    key.save(update_fields=changed)
    for action, names in (
        (AuditAction.API_KEY_CHANGE, [name for name in changed if name not in LIMIT_FIELDS]),
        (AuditAction.API_KEY_LIMITS, [name for name in changed if name in LIMIT_FIELDS]),
    ):
        if names:
            record_audit_event(
                by,
                action,
                key.pk,
                before={label_of(name): before[name] for name in names},
                after={label_of(name): audit_value(key, name) for name in names},
            )
    if changed:
        publish_change(key)
    return changed


def check_lowers(key: ApiKey, limits: Mapping[str, Any]) -> None:
    """Raise `PermissionDenied` for other fields, `Refusal` for a limit above the present one."""
    if not set(limits) <= set(LIMIT_FIELDS):
        raise PermissionDenied(NO_RIGHT)
    for name, limit in limits.items():
        now = getattr(key, name)
        if now is not None and (limit is None or limit > now):
            raise Refusal(ONLY_LOWER.format(now=f"{format_credits(now)} cr"), field=name)


@transaction.atomic
@append_audit_rows_last()
def pause_key(*, by: Membership, key: ApiKey) -> int:
    """Have the key charge and change nothing from now on; return how many of its charges, not sent
    yet, were cancelled."""
    key = lock_key(by, key, KeyRight.PAUSE)
    if key.paused_at is not None:
        return 0
    key.paused_at = timezone.now()
    key.save(update_fields=["paused_at"])
    cancelled = pending_rights.cancel_key_charges(key, "paused")
    action = AuditAction.AGENT_PAUSE if key.client_id else AuditAction.API_KEY_PAUSE
    record_audit_event(by, action, key.pk, cancelled=cancelled)
    publish_change(key)
    return cancelled


@transaction.atomic
def resume_key(*, by: Membership, key: ApiKey) -> None:
    key = lock_key(by, key, KeyRight.PAUSE)
    if key.paused_at is not None:
        key.paused_at = None
        key.save(update_fields=["paused_at"])
        action = AuditAction.AGENT_RESUME if key.client_id else AuditAction.API_KEY_RESUME
        record_audit_event(by, action, key.pk)
        publish_change(key)


@sensitive_variables("new")
@transaction.atomic
def rotate_api_key(*, by: Membership, key: ApiKey, grace: timedelta, last_four: str) -> NewKey:
    """Give the key a new value; the one before, which ends in `last_four`, is accepted for `grace`
    longer. Raises `StaleData` if the key has another value by now."""
    locked = lock_key(by, key, KeyRight.EDIT)
    if locked.last_four != last_four:
        raise StaleData(ROTATED_MEANWHILE)
    new = keys.rotate_key(locked, grace)
    after = {"old_value_until": new.key.previous_until} if grace else {}
    record_audit_event(by, AuditAction.API_KEY_ROTATE, key.pk, after=after)
    publish_change(new.key)
    return new


@transaction.atomic
@append_audit_rows_last()
def revoke_api_key(*, by: Membership, key: ApiKey, reason: str) -> None:
    """Refuse the key at once, for good. Raises `StaleData` if it was revoked before."""
    if KeyRight.REVOKE not in key_rights(by, key):
        raise PermissionDenied(NO_RIGHT)
    if not pending_rights.revoke_key(by, key, reason):
        raise StaleData(REVOKED)


def lock_key(by: Membership, key: ApiKey, *rights: KeyRight) -> ApiKey:
    """Return the key as it is now, locked. Raises `NotReady` if it was revoked."""
    rows = ApiKey.objects.select_for_update(of=("self",), no_key=True)
    locked = rows.select_related("owner", "token").get(pk=key.pk, tenant=by.team.tenant_id)
    if not key_rights(by, locked) & set(rights):
        raise PermissionDenied(NO_RIGHT)
    if locked.revoked_at is not None:
        raise NotReady(REVOKED)
    return locked


def settings_version(key: ApiKey) -> str:
    """The values of a key that forms change, as 16 characters, so that a form can detect a
    concurrent change."""
    values = [audit_value(key, name) for name in EDITED_FIELDS]
    return hashlib.sha256(json.dumps(values, default=str).encode()).hexdigest()[:16]


def audit_value(key: ApiKey, name: str) -> Any:
    value = getattr(key, name)
    if name in LIMIT_FIELDS and value is not None:
        return amount_text(value)
    if name == "token":
        return "best token" if value is None else f"token …{value.last_four}"
    return value


def label_of(name: str) -> str:
    # “token” in an audit row is the value of one.
    return "runs_on" if name == "token" else name


def publish_change(key: ApiKey) -> None:
    publish_event(key.tenant_id, EventType.TOKEN, key.pk)
