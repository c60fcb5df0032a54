"""Add and remove second factors, with allauth's flows; audited, and told by e-mail."""

from __future__ import annotations

from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal import flows as recovery_codes
from allauth.mfa.totp.internal import flows as totp
from allauth.mfa.webauthn.internal import flows as webauthn
from django.db import transaction

from dashboard.account.actions.account_audit import publish_member_change, record_account_event
from dashboard.models import AuditAction, User
from dashboard.shared.account_changes import AccountChange, mail_account_change
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.http import TeamRequest
from proxyapi.refusals import Refusal

APP = "authenticator app"
LAST_WAY_IN = (
    "“{name}” is your only way to sign in: you have no password. Add another passkey first."
)


@transaction.atomic
@append_audit_rows_last()
def add_app(request: TeamRequest, form: Any) -> list[str]:
    """Turn on the app whose code the form has checked; return the recovery codes if they are
    new."""
    _, codes = totp.activate_totp(request, form)
    record_account_event(request.user, AuditAction.SECOND_FACTOR_ADD, APP)
    publish_member_change(request.user)
    mail_account_change(request.user, AccountChange.APP_ADDED)
    return read_recovery_codes(codes)


@transaction.atomic
@append_audit_rows_last()
def remove_app(request: TeamRequest, authenticator: Authenticator) -> None:
    totp.deactivate_totp(request, authenticator)
    record_account_event(request.user, AuditAction.SECOND_FACTOR_REMOVE, APP)
    publish_member_change(request.user)
    mail_account_change(request.user, AccountChange.APP_REMOVED)


@transaction.atomic
@append_audit_rows_last()
def add_passkey(request: TeamRequest, name: str, credential: dict[str, Any]) -> list[str]:
    """Store the passkey; return the recovery codes if they are new."""
    _, codes = webauthn.add_authenticator(request, name, credential)
    record_account_event(request.user, AuditAction.SECOND_FACTOR_ADD, f"passkey {name}")
    publish_member_change(request.user)
    mail_account_change(request.user, AccountChange.PASSKEY_ADDED, name)
    return read_recovery_codes(codes)


@transaction.atomic
@append_audit_rows_last()
def remove_passkey(request: TeamRequest, authenticator: Authenticator) -> None:
    """Remove the passkey. Raises `Refusal` if the person could not sign in without it."""
    name = authenticator.wrap().name
    if is_last_way_in(authenticator):
        raise Refusal(LAST_WAY_IN.format(name=name))
    webauthn.remove_authenticator(request, authenticator)
    record_account_event(request.user, AuditAction.SECOND_FACTOR_REMOVE, f"passkey {name}")
    publish_member_change(request.user)
    mail_account_change(request.user, AccountChange.PASSKEY_REMOVED, name)


def is_last_way_in(passkey: Authenticator) -> bool:
    """Whether nothing else signs the person in. All their passkeys are locked: two that are removed
    at once must not both go."""
    # The user's row, because one of two passkeys may be gone when the other request looks.
    user = User.objects.select_for_update().get(pk=passkey.user_id)
    others = Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN)
    return not user.has_usable_password() and not others.exclude(pk=passkey.pk).exists()


@transaction.atomic
@append_audit_rows_last()
def renew_recovery_codes(request: TeamRequest) -> list[str]:
    codes = recovery_codes.generate_recovery_codes(request)
    record_account_event(request.user, AuditAction.RECOVERY_CODES_RENEW, "own account")
    mail_account_change(request.user, AccountChange.RECOVERY_CODES_RENEWED)
    return read_recovery_codes(codes)


def read_recovery_codes(authenticator: Authenticator | None) -> list[str]:
    """Return the codes as "1234-5678"; none without an authenticator."""
    if authenticator is None:
        return []
    codes: list[str] = authenticator.wrap().generate_codes()
    return [f"{code[:4]}-{code[4:]}" for code in codes]
