"""Recheck a video or a charge on a member's request, also if polling is slowed or quarantined.

It takes requests of the token's rate limit and no credits; nothing is sent again.
"""

from __future__ import annotations

from django.db import transaction

from dashboard.models import AuditAction, Membership
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.roles import Permission
from proxyapi import charges
from proxyapi.models import Charge, ChargeState, Job, Token, TokenState
from proxyapi.polling.part_reads import read_unfinished_parts_again
from proxyapi.polling.poller import poll_soon
from proxyapi.refusals import StaleData, TokenRefused

ACCOUNT_UNREACHABLE = "The token it was made with does not work, so it cannot be checked."
RECHECK_STARTED = "The service and its ledger are being checked. Nothing is sent again."
ALREADY_SETTLED = "It is already resolved. There is nothing left to check."


@transaction.atomic
def recheck_job(*, by: Membership, job: Job) -> int:
    """Poll a job, or read its unfinished parts, now and reconcile its unknown charges; return how
    many of these there are.

    Raises `TokenRefused` if the token is unusable and `StaleData` if nothing is open.
    """
    check_permission(by, Permission.RECHECK)
    check_token_usable(job.token)
    is_polled = poll_soon(job) or read_unfinished_parts_again(job)
    unknown = job.charges.filter(state=ChargeState.UNKNOWN)
    charge_ids = [charge.pk for charge in unknown if charges.reconcile_now(charge)]
    if not is_polled and not charge_ids:
        raise StaleData(ALREADY_SETTLED)
    record_audit_event(
        by, AuditAction.VIDEO_RECHECK, job.pk, charges=[str(pk) for pk in charge_ids]
    )
    return len(charge_ids)


@transaction.atomic
def recheck_charge(*, by: Membership, charge: Charge) -> None:
    """Reconcile a charge now. Raises `TokenRefused`, or `StaleData` if it is settled."""
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
