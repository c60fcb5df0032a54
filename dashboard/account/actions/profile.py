"""The name and the e-mail address of a person."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.utils import timezone

from dashboard.account.actions.account_audit import publish_member_change, record_account_event
from dashboard.account.email_confirmations import find_confirming_user, is_address_taken
from dashboard.models import AuditAction, User
from dashboard.shared.account_changes import AccountChange, mail_account_change
from dashboard.shared.audit_log import append_audit_rows_last
from dashboard.shared.enqueue import EMAIL_CONFIRMATION_TASK, enqueue_now
from dashboard.shared.team_security import check_new_address_allowed
from proxyapi.refusals import Refusal

LINK_ENDED = (
    "This link is no longer valid. It works once, and not after another address was entered. Enter "
    "the address again on the page of your account."
)


@transaction.atomic
def change_name(user: User, name: str) -> None:
    before, user.name = user.name, name
    user.save(update_fields=["name"])
    record_account_event(
        user,
        AuditAction.NAME_CHANGE,
        "own account",
        before={"name": before},
        after={"name": name},
    )
    publish_member_change(user)


@transaction.atomic
def request_email_change(user: User, address: str) -> None:
    """Mail a link to the new address, and tell the old one. Both are the same for an address that
    somebody else has; only the link is then not sent. Raises kombu's `OperationalError` if the
    broker is down; nothing is changed then."""
    user.pending_email, user.pending_email_at = address, timezone.now()
    user.save(update_fields=["pending_email", "pending_email_at"])
    after = {"email": address}
    record_account_event(user, AuditAction.EMAIL_REQUEST, "own account", after=after)
    mail_account_change(user, AccountChange.EMAIL_REQUESTED, address)
    transaction.on_commit(lambda: enqueue_now(EMAIL_CONFIRMATION_TASK, user.pk))


@transaction.atomic
def withdraw_email_change(user: User) -> None:
    if user.pending_email:
        before = {"email": user.pending_email}
        record_account_event(user, AuditAction.EMAIL_WITHDRAW, "own account", before=before)
    user.pending_email, user.pending_email_at = "", None
    user.save(update_fields=["pending_email", "pending_email_at"])


def confirm_email_change(key: str) -> User:
    """Replace the address by the new one; raises `Refusal` if the key is not valid any more, or a
    team of the user does not accept the address any more."""
    try:
        return replace_email(key)
    except IntegrityError:  # somebody else got the address in this moment
        raise Refusal(LINK_ENDED) from None


@transaction.atomic
@append_audit_rows_last()
def replace_email(key: str) -> User:
    user = find_confirming_user(key)
    if user is None or is_address_taken(user.pending_email, user):
        raise Refusal(LINK_ENDED)
    old, new = user.email, user.pending_email
    check_new_address_allowed(user, new)
    # Only one of two confirmations at once finds the old address.
    claim = User.objects.filter(pk=user.pk, email=old, pending_email=new)
    if not claim.update(email=new, pending_email="", pending_email_at=None):
        raise Refusal(LINK_ENDED)
    user.refresh_from_db()
    record_account_event(
        user,
        AuditAction.EMAIL_CHANGE,
        "own account",
        before={"email": old},
        after={"email": new},
    )
    publish_member_change(user)
    mail_account_change(user, AccountChange.EMAIL_CHANGED, new, address=old)
    return user
