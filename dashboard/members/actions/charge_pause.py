"""Pause the charges of one member, those of their API keys too, and allow them again."""

from __future__ import annotations

from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from dashboard.members.actions.roles import MEMBER_LEFT
from dashboard.models import AuditAction, Membership, Team
from dashboard.shared.access import check_can_pause_charges
from dashboard.shared.audit_log import append_audit_rows_last, record_audit_event
from dashboard.shared.notices import notify_users
from dashboard.shared.pending_rights import cancel_unsent_charges
from dashboard.shared.text_validation import clean_reason
from proxyapi.events import EventType, publish_event
from proxyapi.refusals import StaleData

REASON_MISSING = "Say why, in a few words. The member reads it."
ALREADY_PAUSED = "Charges of {name} are paused already, by {by}."
NOT_PAUSED = "Charges of {name} are allowed already."
PAUSED_BEFORE_SENDING = "Charges of {name} were paused before it was sent. Nothing was charged."
EFFECT = "Nothing that costs credits is sent for you or your API keys until that is taken back."
PAUSE_FIELDS = ("charges_paused_at", "charges_paused_by", "charge_pause_reason")


@transaction.atomic
@append_audit_rows_last()
def pause_member_charges(*, by: Membership, member: Membership, reason: str) -> int:
    """Refuse what costs credits for the member and their API keys from now on, and cancel what was
    not sent yet; return how many. Approval requests stay. Raises `StaleData` if they are paused
    already, `Refusal` without a reason."""
    reason = clean_reason(reason, required=REASON_MISSING)
    current = lock_member(by, member)
    if current.charges_paused_at is not None:
        raise StaleData(ALREADY_PAUSED.format(name=current.user, by=current.charges_paused_by))
    current.charges_paused_at = timezone.now()
    current.charges_paused_by, current.charge_pause_reason = str(by.user), reason
    current.save(update_fields=PAUSE_FIELDS)
    cancelled = cancel_unsent_charges(current, PAUSED_BEFORE_SENDING)
    record_audit_event(
        by,
        AuditAction.MEMBER_CHARGES_PAUSE,
        current.user_id,
        before={"charges": "allowed"},
        after={"charges": "paused"},
        reason=reason,
        cancelled=cancelled,
    )
    notify(by, current, f"{by.user} paused your charges in {by.team}", f"“{reason}” {EFFECT}")
    return cancelled


@transaction.atomic
@append_audit_rows_last()
def resume_member_charges(*, by: Membership, member: Membership) -> None:
    """Allow the charges of the member again. What was cancelled is not sent. Raises `StaleData` if
    they are not paused."""
    current = lock_member(by, member)
    if current.charges_paused_at is None:
        raise StaleData(NOT_PAUSED.format(name=current.user))
    paused_by, reason = current.charges_paused_by, current.charge_pause_reason
    current.charges_paused_at = None
    current.charges_paused_by = current.charge_pause_reason = ""
    current.save(update_fields=PAUSE_FIELDS)
    record_audit_event(
        by,
        AuditAction.MEMBER_CHARGES_RESUME,
        current.user_id,
        before={"charges": "paused"},
        after={"charges": "allowed"},
        paused_by=paused_by,
        reason=reason,
    )
    title = f"{by.user} allowed your charges in {by.team} again"
    notify(by, current, title, "What was cancelled meanwhile is not sent. Confirm it again.")


def lock_member(by: Membership, member: Membership) -> Membership:
    """Return the member as they are now. The team's row is locked first, as by each charge: a
    charge is either refused or cancelled, never between the two."""
    Team.objects.select_for_update(no_key=True).get(pk=by.team_id)
    rows = Membership.objects.select_for_update(of=("self",)).select_related("user", "team__tenant")
    current = rows.filter(pk=member.pk, team=by.team).first()
    if current is None:
        raise StaleData(MEMBER_LEFT)
    check_can_pause_charges(by, current)
    return current


def notify(by: Membership, member: Membership, title: str, text: str) -> None:
    publish_event(by.team.tenant_id, EventType.MEMBER, by.team_id)
    if member.pk != by.pk:
        notify_users(by.team, [member.user], title=title, text=text, url=reverse("members"))
