"""The team's rule that a charge above an amount of credits needs a second person."""

from __future__ import annotations

from decimal import Decimal

from django.db import transaction

from dashboard.models import AuditAction, Membership, Team
from dashboard.shared.access import check_permission
from dashboard.shared.audit_log import record_audit_event
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import MIN_APPROVERS, lock_second_person_rule
from proxyapi.events import EventType, publish_event
from proxyapi.models.account import amount_text
from proxyapi.refusals import BY_OTHERS, Refusal, StaleData, format_credits

NOT_ENOUGH_APPROVERS = (
    "Only one person can approve here. Make another member treasurer or owner first, because "
    "nobody approves their own request."
)
RULE_NOT_POSITIVE = "The amount must be above 0."
RULE_CHANGED_MEANWHILE = (
    f"This rule was changed {BY_OTHERS}. It is now: {{now}}. Save again to apply the value below."
)


@transaction.atomic
def set_second_person_rule(
    *, by: Membership, above: Decimal | None, drawn: str | None = None
) -> bool:
    """Require a second person for charges above so many credits, or for none (None); False if that
    is the rule already. Requests that wait stay until they are decided.

    `drawn` is the `rule_version` that the form was built from. The team's row is locked, as each
    charge locks it. Raises `Refusal` if fewer than two members can approve.
    """
    check_permission(by, Permission.MANAGE_MONEY)
    if above is not None and above <= 0:
        raise Refusal(RULE_NOT_POSITIVE, field="above")
    before = lock_second_person_rule(by.team_id)
    if drawn is not None and drawn != rule_version(before):
        raise StaleData(RULE_CHANGED_MEANWHILE.format(now=describe_rule(before)))
    if above == before:
        return False
    if above is not None and len(load_money_managers(by.team)) < MIN_APPROVERS:
        raise Refusal(NOT_ENOUGH_APPROVERS, field="above")
    Team.objects.filter(pk=by.team_id).update(second_person_above=above)
    record_audit_event(
        by,
        AuditAction.SECOND_PERSON_CHANGE,
        by.team_id,
        before=rule_audit_details(before),
        after=rule_audit_details(above),
    )
    publish_event(by.team.tenant_id, EventType.BUDGET, by.team_id)
    return True


def rule_version(above: Decimal | None) -> str:
    """The rule as text, "" without one, so that a form can detect a concurrent change."""
    return "" if above is None else amount_text(above)


def describe_rule(above: Decimal | None) -> str:
    return "off" if above is None else f"above {format_credits(above)} cr"


def rule_audit_details(above: Decimal | None) -> dict[str, str]:
    return {} if above is None else {"above": amount_text(above)}
