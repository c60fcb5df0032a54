"""Mails that tell a person what changed in their account; a worker sends them
(dashboard/account/change_mails.py)."""

from __future__ import annotations

import logging
from enum import StrEnum

from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from dashboard.models import User
from dashboard.shared.audit_log import client_ip_of_request
from dashboard.shared.enqueue import ACCOUNT_CHANGE_MAIL_TASK, enqueue_now

log = logging.getLogger(__name__)


class AccountChange(StrEnum):
    APP_ADDED = "app_added"
    APP_REMOVED = "app_removed"
    EMAIL_CHANGED = "email_changed"
    EMAIL_REQUESTED = "email_requested"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    RECOVERY_CODE_USED = "recovery_code_used"
    RECOVERY_CODES_RENEWED = "recovery_codes_renewed"
    SECOND_FACTOR_RESET = "second_factor_reset"


def mail_account_change(
    user: User, change: AccountChange, detail: str = "", *, address: str = ""
) -> None:
    """Mail the user on commit, at their address or at `address`. The change stays without a
    broker."""
    client_ip = client_ip_of_request.get() or ""
    at = timezone.now().isoformat()
    arguments = (user.pk, change.value, detail, address or user.email, at, client_ip)
    transaction.on_commit(lambda: enqueue_mail(arguments))


def enqueue_mail(arguments: tuple[object, ...]) -> None:
    try:
        enqueue_now(ACCOUNT_CHANGE_MAIL_TASK, *arguments)
    except OperationalError:
        log.warning(
            "no e-mail about %s of user %s: the broker does not respond", arguments[1], arguments[0]
        )
