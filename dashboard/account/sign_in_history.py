"""The history of sign-ins, kept for SIGN_IN_RETENTION_DAYS."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from itertools import groupby
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone

from dashboard.models import (
    AuditAction,
    AuditActorKind,
    Membership,
    SignInEvent,
    SignInOutcome,
    User,
)
from dashboard.models.email_address import address_key
from dashboard.shared.audit_log import AuditActor, append_audit_rows_last, record_audit_event
from dashboard.shared.openid.session_teams import bypassed_memberships
from proxyapi.pruning import delete_in_batches

AUDIT_BATCH_SIZE = 200  # sign-ins per transaction, which locks the chains of their teams
AUDIT_ACTIONS = {
    SignInOutcome.SIGNED_IN: AuditAction.SIGN_IN,
    SignInOutcome.PASSWORD_CHANGED: AuditAction.PASSWORD_CHANGE,
    SignInOutcome.PASSWORD_RESET: AuditAction.PASSWORD_RESET,
}
REFUSAL_REASONS = {
    SignInOutcome.WRONG_PASSWORD: "wrong password",
    SignInOutcome.RATE_LIMITED: "too many wrong passwords",
    SignInOutcome.DISABLED: "the account is disabled",
    SignInOutcome.SSO_REFUSED: "refused after single sign-on",
    SignInOutcome.SSO_REQUIRED: "single sign-on is required",
    SignInOutcome.WRONG_SECOND_FACTOR: "wrong second factor",
    SignInOutcome.SECOND_FACTOR_LIMITED: "too many wrong codes",
}
SIGN_IN_METHODS = {
    SignInOutcome.SIGNED_IN: "password",
    SignInOutcome.PASSWORD_CHANGED: "in the portal",
    SignInOutcome.PASSWORD_RESET: "by a link in a mail",
}
LIMITED_RECORD_INTERVAL_S = 300  # a refused client keeps trying; one row is enough


def record_sign_in(
    request: HttpRequest,
    outcome: SignInOutcome,
    address: str,
    user: User | None = None,
    method: str = "",
) -> None:
    """Add a row. The user is queried for every refusal, so that its time reveals nothing."""
    address = address_key(address)
    SignInEvent.objects.create(
        user=user or User.objects.filter(email=address).first(),
        address=address,
        outcome=outcome,
        method=method[:40],
        client_ip=get_adapter().get_client_ip(request),
        user_agent="".join(filter(str.isprintable, request.headers.get("User-Agent", "")))[:200],
    )


def record_bypassed_single_sign_on(request: HttpRequest, user: User) -> None:
    """Write into the audit log of each team that an owner signed in past its single sign-on."""
    for member in bypassed_memberships(request.session, user):
        record_audit_event(member, AuditAction.SINGLE_SIGN_ON_BYPASS, "own account")


def record_limited_sign_in(
    request: HttpRequest, address: str, outcome: SignInOutcome = SignInOutcome.RATE_LIMITED
) -> None:
    """Add at most one row per client in five minutes: the rows must not grow with an attack."""
    key = f"sign-in-{outcome}:{get_adapter().get_client_ip(request)}"
    if cache.add(key, True, LIMITED_RECORD_INTERVAL_S):
        record_sign_in(request, outcome, address)


def prune_sign_in_events() -> int:
    """Delete rows older than SIGN_IN_RETENTION_DAYS; return how many."""
    until = timezone.now() - timedelta(days=settings.SIGN_IN_RETENTION_DAYS)
    return delete_in_batches(SignInEvent.objects.filter(happened_at__lt=until))


def append_sign_ins_to_audit() -> None:
    """Append sign-ins and refused ones to the audit log of each team of the user, oldest first.

    Not within the sign-in: its time would tell whether an address has an account. An address that
    belongs to nobody concerns no team.
    """
    while append_sign_in_batch() == AUDIT_BATCH_SIZE:
        pass


@transaction.atomic
@append_audit_rows_last()
def append_sign_in_batch() -> int:
    """Return how many events were appended; they are locked, so each is appended once."""
    pending = SignInEvent.objects.select_for_update(of=("self",), skip_locked=True)
    pending = pending.filter(is_audited=False).order_by("happened_at", "pk")
    events = list(pending.select_related("user")[:AUDIT_BATCH_SIZE])
    users = {event.user_id for event in events if event.user_id}
    memberships = Membership.objects.filter(user__in=users).select_related("team", "user")
    for member in memberships.order_by("team_id", "pk"):
        own = [event for event in events if event.user_id == member.user_id]
        # Repeated wrong passwords of one client are one entry with their number.
        for _, same in groupby(own, key=lambda event: (event.outcome, event.client_ip)):
            append_sign_in_entry(member, list(same))
    SignInEvent.objects.filter(pk__in=[event.pk for event in events]).update(is_audited=True)
    return len(events)


def append_sign_in_entry(member: Membership, same: list[SignInEvent]) -> None:
    event = same[-1]
    outcome = SignInOutcome(event.outcome)
    details: dict[str, Any] = {
        "at": event.happened_at.isoformat(timespec="seconds"),
        "user_agent": event.user_agent,
    }
    if reason := REFUSAL_REASONS.get(outcome):
        actor = AuditActor(member.team, AuditActorKind.UNKNOWN, "", event.address, event.client_ip)
        details |= {"reason": reason, **times_detail(same)}
        record_audit_event(actor, AuditAction.SIGN_IN_REFUSE, "sign-in", **details)
        return
    user_id, name = str(member.user_id), str(member.user)
    actor = AuditActor(member.team, AuditActorKind.PERSON, user_id, name, event.client_ip)
    for each in same:
        at = {"at": each.happened_at.isoformat(timespec="seconds")}
        details |= {"method": each.method or SIGN_IN_METHODS[outcome], **at}
        record_audit_event(actor, AUDIT_ACTIONS[outcome], "own account", **details)


def times_detail(same: Iterable[SignInEvent]) -> dict[str, str]:
    """Say how often it happened, if more than once."""
    count = len(list(same))
    return {} if count == 1 else {"times": "twice" if count == 2 else f"{count} times"}
