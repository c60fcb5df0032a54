"""Looking again: a person has the service asked once more, whatever stopped or slowed the looking.

It costs one of the token's requests and no credits; nothing is ever sent again by it.
"""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi import charges
from proxyapi.models import Charge, ChargeState, Job, Token, TokenState
from proxyapi.polling.poller import poll_soon
from proxyapi.refusals import StaleData, TokenRefused

ACCOUNT_UNREACHABLE = "The token it was made with does not work, so it cannot be checked."
RECHECK_STARTED = "The service and its ledger are being checked. Nothing is sent again."
ALREADY_SETTLED = "It is already resolved. There is nothing left to check."


@transaction.atomic
def recheck_job(*, by: Membership, job: Job) -> int:
    """Look at a video again, and for its charges that got no answer; how many of these there are.

    Raises `TokenRefused` where the service cannot be asked, `StaleData` where nothing is open.
    """
    check_permission(by, Permission.RECHECK)
    check_token_usable(job.token)
    runs = poll_soon(job)
    unknown = job.charges.filter(state=ChargeState.UNKNOWN)
    doubts = [charge.pk for charge in unknown if charges.reconcile_now(charge)]
    if not runs and not doubts:
        raise StaleData(ALREADY_SETTLED)
    record_audit_event(by, AuditAction.VIDEO_RECHECK, job.pk, charges=[str(pk) for pk in doubts])
    return len(doubts)


@transaction.atomic
def recheck_charge(*, by: Membership, charge: Charge) -> None:
    """Read back a charge now. Raises `TokenRefused`, or `StaleData` if it is settled."""
    check_permission(by, Permission.RECHECK)
    check_token_usable(charge.token)
    if not charges.reconcile_now(charge):
        raise StaleData(ALREADY_SETTLED)
    record_audit_event(
        by, AuditAction.CHARGE_RECHECK, charge.pk, operation=charge.operation, hold=str(charge.hold)
    )


def check_token_usable(token: Token) -> None:
    if token.state != TokenState.WORKING:
        raise TokenRefused(ACCOUNT_UNREACHABLE)
    if token.account.pause_reason:
        raise TokenRefused(token.account.pause_reason)
