"""The team's rules for scripts, which the gateway asks for: rights, token, limits, approvals."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest

from dashboard.api_keys import agent_approvals
from dashboard.api_keys.agent_approvals import describe_approval
from dashboard.api_keys.agent_tokens import find_agent_by_token
from dashboard.models import (
    ApprovalDecision,
    ApprovalRequest,
    Label,
    Membership,
    VideoLabel,
)
from dashboard.models.label import label_key
from dashboard.shared.access import has_permission
from dashboard.shared.approvals import approval_page_url, close_request, lock_pending_request
from dashboard.shared.budget_usage import PERIOD_NAMES, ApprovalRequired
from dashboard.shared.charging import charge_within_budget, lock_spending_rules, request_approval
from dashboard.shared.key_limits import ALLOWANCE, CHARGE_LIMIT
from dashboard.shared.member_token import require_member_token
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import SECOND_PERSON_KEY
from proxyapi.charges import ChargeIntent
from proxyapi.gateway.access import scope_of
from proxyapi.gateway.team_rules import AdmittedCharge, LimitsPreview, TeamRules
from proxyapi.models import ApiKey, Charge, Job, KeyScope, Token
from proxyapi.operations import Operation
from proxyapi.refusals import Refusal, TokenRefused

NOTE = "By the {noun} “{name}”."
WITHDRAWN = "Withdrawn by the script that asked for it. Nothing was sent."
OWNER_GONE = "The owner of this API key is no longer in the team."
RIGHT_MISSING = "The owner of this API key may not do this in the team."
SUSPENDED = "This team is suspended."
TOKEN_STOPPED = "The token that this API key runs on cannot be used."  # noqa: S105
LIMITS_OF_ONE_CHARGE = (SECOND_PERSON_KEY, CHARGE_LIMIT)
LIMIT_NAMES = {
    ALLOWANCE: "allowance",
    CHARGE_LIMIT: "one_charge_without_approval",
    SECOND_PERSON_KEY: "one_charge_without_second_person",
    **{f"key {period}": name.replace(" ", "_") for period, name in PERIOD_NAMES.items()},
}
SCOPE_PERMISSIONS = {
    KeyScope.READ: Permission.VIEW,
    KeyScope.CREATE: Permission.RENDER,
    KeyScope.RENDER: Permission.RENDER,
    KeyScope.CREDITS: Permission.VIEW,
    KeyScope.REPORTS: Permission.VIEW,
}


class PortalTeamRules(TeamRules):
    """As `proxyapi.gateway.team_rules.TeamRules`."""

    def check_access(self, key: ApiKey, operation: Operation) -> None:
        member = load_active_owner(key)
        needed = SCOPE_PERMISSIONS[scope_of(operation)]
        if operation.area == "top_up" and operation.method != "GET":
            needed = Permission.MANAGE_MONEY
        if not has_permission(member, needed):
            raise Refusal(RIGHT_MISSING)

    def find_token(self, key: ApiKey) -> Token:
        token = require_member_token(load_owner(key)) if key.token is None else key.token
        if not token.is_usable:
            raise TokenRefused(TOKEN_STOPPED)
        return token

    def charge(self, key: ApiKey, intent: ChargeIntent) -> AdmittedCharge:
        by = load_owner(key)
        label_job(by, key, intent.job)
        try:
            with transaction.atomic():
                return AdmittedCharge(charge_within_budget(by, intent))
        except ApprovalRequired as error:
            if not error.is_for_scripts:
                raise
        request = request_approval(by, intent, NOTE.format(noun=key.noun, name=key.name))
        return AdmittedCharge(request.charge, absolute_url(request))

    def preview(self, key: ApiKey, hold: Decimal) -> LimitsPreview:
        by = load_owner(key)
        with transaction.atomic():
            rules, _ = lock_spending_rules(by, key).covered(hold)
        limits = [limit for limit in rules.limits if limit.key not in LIMITS_OF_ONE_CHARGE]
        left = min((limit.remaining - hold for limit in limits), default=None)
        lowest = min(rules.limits, key=lambda limit: (limit.remaining, limit.key), default=None)
        if not hold or lowest is None or hold <= lowest.remaining:
            return LimitsPreview(left, approval_required=False)
        refusal = rules.approval_required(by, hold, lowest.key)
        return LimitsPreview(left, approval_required=refusal.is_for_scripts)

    def spendable(self, key: ApiKey) -> dict[str, Decimal]:
        with transaction.atomic():
            rules = lock_spending_rules(load_owner(key), key)
        left: dict[str, Decimal] = {}
        if approved := sum(approval.credits_left for approval in rules.approvals):
            left["approved_beside"] = Decimal(approved)
        for limit in rules.limits:
            name = LIMIT_NAMES.get(limit.key, "budgets")
            left[name] = min(max(limit.remaining, Decimal(0)), left.get(name, limit.remaining))
        return left

    def approval_url(self, charge: Charge) -> str:
        request = ApprovalRequest.objects.filter(charge=charge, decided_at=None).first()
        return "" if request is None else absolute_url(request)

    def withdraw(self, key: ApiKey, charge: Charge) -> bool:
        approval = ApprovalRequest.objects.filter(charge=charge, decided_at=None).first()
        if approval is None:
            return False
        with transaction.atomic():
            by, row = load_owner(key), lock_pending_request(approval)
            close_request(by, row, ApprovalDecision.WITHDRAWN, WITHDRAWN)
        return True

    def request_items(self, key: ApiKey, **wish: Any) -> dict[str, Any]:
        load_active_owner(key)
        return describe_approval(agent_approvals.request_items(key, **wish))

    def find_items(self, key: ApiKey, id: UUID) -> dict[str, Any] | None:
        approval = agent_approvals.load_approval(key, id)
        return describe_approval(approval) if approval else None

    def withdraw_items(self, key: ApiKey, id: UUID) -> None:
        agent_approvals.withdraw(key, id)

    def find_event_readers(self, keys: Collection[ApiKey]) -> dict[UUID, bool]:
        members = Membership.objects.filter(
            user__in={key.owner_id for key in keys},
            user__is_active=True,
            team__tenant__in={key.tenant_id for key in keys},
            team__tenant__suspended_at=None,
        ).select_related("team")
        by_owner = {(row.team.tenant_id, row.user_id): row for row in members}
        readers = {}
        for key in keys:
            member = by_owner.get((key.tenant_id, key.owner_id))
            if member is not None and has_permission(member, Permission.VIEW):
                readers[key.pk] = has_permission(member, Permission.MANAGE_MONEY)
        return readers

    def find_agent_key(self, value: str) -> ApiKey | None:
        return find_agent_by_token(value)

    def client_ip(self, scope: Mapping[str, Any]) -> str:
        request = HttpRequest()
        request.META["REMOTE_ADDR"] = (scope.get("client") or ("",))[0]
        for name, value in scope["headers"]:
            if name == b"x-forwarded-for":
                request.META["HTTP_X_FORWARDED_FOR"] = value.decode("latin-1")
        try:
            return str(get_adapter().get_client_ip(request))
        except PermissionDenied:  # the proxy gave no address
            return ""


def label_job(by: Membership, key: ApiKey, job: Job | None) -> None:
    """Give what the key makes its label, before the budgets of labels are read."""
    if job is None or not key.job_label:
        return
    named = {"name": key.job_label, "created_by": by.user}
    label, _ = Label.objects.get_or_create(
        team=by.team, key=label_key(key.job_label), defaults=named
    )
    VideoLabel.objects.get_or_create(label=label, job=job)


def load_active_owner(key: ApiKey) -> Membership:
    """As `load_owner`. Raises `Refusal` if the team is suspended, too."""
    if key.tenant.suspended_at is not None:
        raise Refusal(SUSPENDED)
    return load_owner(key)


def load_owner(key: ApiKey) -> Membership:
    """The active membership of the key's owner. Raises `Refusal` without one."""
    members = Membership.objects.select_related("team").order_by()
    member = next(iter(members.filter(team__tenant=key.tenant_id, user=key.owner_id)), None)
    if member is None or not key.owner.is_active:
        raise Refusal(OWNER_GONE)
    member.user, member.team.tenant = key.owner, key.tenant  # of the same query as the key
    return member


def absolute_url(request: ApprovalRequest) -> str:
    return f"{settings.PORTAL_URL}{approval_page_url(request)}"
