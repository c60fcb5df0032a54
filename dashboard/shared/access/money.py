"""Fetch budgets, approval requests, accounts, ledger entries, charges and webhooks."""

from __future__ import annotations

from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef
from django.http import Http404

from dashboard.models import (
    AlertWebhook,
    ApprovalRequest,
    Budget,
    Delivery,
    OutsideSource,
    annotate_outside_source,
)
from dashboard.shared.access.permissions import check_permission
from dashboard.shared.http import TeamRequest
from dashboard.shared.roles import Permission
from proxyapi.models import (
    Account,
    Charge,
    ChargeState,
    CreditPack,
    LedgerConflict,
    LedgerEntry,
    Token,
    annotate_spending_obstacle,
)
from proxyapi.models.ledger_entry import is_charged_by_another_team


def fetch_budget(request: TeamRequest, budget_id: UUID) -> Budget:
    """Return an active budget to change."""
    budgets = Budget.objects.filter(team=request.team, active=True).select_related(
        "member", "label"
    )
    budget = budgets.filter(pk=budget_id).first()
    if budget is None:
        raise Http404("This budget does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return budget


def fetch_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    """Return an approval request to decide."""
    approval = find_approval_request(request, approval_id)
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return approval


def fetch_readable_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    """Return an approval request for its requester, or for those who decide requests."""
    approval = find_approval_request(request, approval_id)
    if approval.member_id != request.user.pk:
        check_permission(request.membership, Permission.MANAGE_MONEY)
    return approval


def fetch_own_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    approval = find_approval_request(request, approval_id)
    if approval.member_id != request.user.pk:
        raise PermissionDenied("Only the member who made this request can withdraw it.")
    return approval


def find_approval_request(request: TeamRequest, approval_id: UUID) -> ApprovalRequest:
    approval = (
        request.team.approval_requests.select_related("member", "decided_by", "charge__job__draft")
        .filter(pk=approval_id)
        .first()
    )
    if approval is None:
        raise Http404("This team has no such approval request.")
    return approval


def fetch_account(
    request: TeamRequest, account_id: str, permission: Permission = Permission.VIEW
) -> tuple[Account | None, list[Account]]:
    """Return the account with this id and all accounts of the team, each annotated with
    `is_reachable`: it has a usable token, and with its `spending_obstacle`.

    With an empty id the first account that can be spent is chosen, else the first; None if the
    team has none. An archived one is found by its id alone.
    """
    check_permission(request.membership, permission)
    usable_tokens = Token.objects.usable().filter(account=OuterRef("pk"))
    accounts = annotate_spending_obstacle(Account.objects.filter(tenant=request.team.tenant))
    accounts = accounts.defer("costs", "options").annotate(is_reachable=Exists(usable_tokens))
    accounts = accounts.select_related("tenant", "ledger", "top_up").order_by("created_at", "pk")
    loaded: list[Account] = list(accounts)
    rows = [row for row in loaded if row.archived_at is None]
    if not account_id:
        spendable = [row for row in rows if not row.spending_obstacle]
        return next(iter(spendable or rows), None), rows
    chosen = next((row for row in loaded if str(row.pk) == account_id.lower()), None)
    if chosen is None:
        raise Http404("This account does not exist in this team.")
    return chosen, rows


def fetch_account_to_archive(request: TeamRequest, account_id: UUID) -> Account:
    """Return an account, archived or not."""
    account = Account.objects.filter(tenant=request.team.tenant, pk=account_id).first()
    if account is None:
        raise Http404("This account does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return account


def fetch_delivery(request: TeamRequest, delivery_id: UUID) -> Delivery:
    """Return the delivery of an alert, to send it again."""
    deliveries = Delivery.objects.filter(event__team=request.team).select_related("event")
    delivery = deliveries.filter(pk=delivery_id).first()
    if delivery is None:
        raise Http404("This delivery does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return delivery


def fetch_webhook(request: TeamRequest, webhook_id: UUID) -> AlertWebhook:
    """Return a webhook of the team, to remove it."""
    hook = AlertWebhook.objects.filter(team=request.team, pk=webhook_id).first()
    if hook is None:
        raise Http404("This webhook does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return hook


def fetch_credit_pack(request: TeamRequest, pack_id: int) -> CreditPack:
    pack = CreditPack.objects.filter(tenant=request.team.tenant, pk=pack_id).first()
    if pack is None:
        raise Http404("This credit pack does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return pack


def fetch_outside_source(request: TeamRequest, source_id: int) -> OutsideSource:
    """Return a named source of outside spend, to change or remove it."""
    sources = OutsideSource.objects.filter(account__tenant=request.team.tenant)
    source = sources.select_related("account__tenant").filter(pk=source_id).first()
    if source is None:
        raise Http404("This source does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return source


def fetch_ledger_entry(request: TeamRequest, account_id: UUID, position: int) -> LedgerEntry:
    """Return a ledger row with its charge, its job and the users of both."""
    entries = annotate_outside_source(
        LedgerEntry.objects.filter(account__tenant=request.team.tenant, account_id=account_id),
        request.team.tenant.zone,
        "name",
    )
    entries = entries.annotate(is_another_teams=is_charged_by_another_team())
    entries = entries.select_related("account", "member", "job", "charge__member")
    entries = entries.select_related("charge__token__owner", "charge__decided_by")
    entry: LedgerEntry | None = entries.filter(position=position).first()
    if entry is None:
        raise Http404("This ledger entry does not exist in this team.")
    check_permission(request.membership, Permission.VIEW)
    return entry


def fetch_unknown_charge(
    request: TeamRequest, charge_id: UUID, permission: Permission = Permission.MANAGE_MONEY
) -> Charge:
    """Return a charge with an unknown outcome, to decide or recheck."""
    charges = Charge.objects.filter(tenant=request.team.tenant, state=ChargeState.UNKNOWN)
    charge = charges.select_related("member", "job", "token").filter(pk=charge_id).first()
    if charge is None:
        raise Http404("This open charge does not exist in this team.")
    check_permission(request.membership, permission)
    return charge


def fetch_charge_to_decide(request: TeamRequest, charge_id: UUID) -> Charge:
    """Return a charge of the team, whatever its state, to decide about its match."""
    charges = Charge.objects.filter(tenant=request.team.tenant)
    charge = (
        charges.select_related("member", "job", "token", "account").filter(pk=charge_id).first()
    )
    if charge is None:
        raise Http404("This charge does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return charge


def fetch_ledger_conflict(request: TeamRequest, rewrite_id: int) -> LedgerConflict:
    """Return a ledger row that changed at the service, to accept."""
    conflicts = LedgerConflict.objects.filter(
        account__tenant=request.team.tenant, accepted_at__isnull=True
    )
    conflict = conflicts.select_related("account__ledger").filter(pk=rewrite_id).first()
    if conflict is None:
        raise Http404("This row does not exist in this team.")
    check_permission(request.membership, Permission.MANAGE_MONEY)
    return conflict
