"""Requests that wait for a second person, in the words of the overview and of the alert: for one
charge, for several items of an agent, for a batch."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.urls import reverse

from dashboard.models import AgentApproval, ApprovalRequest, Batch, Team
from dashboard.shared.approvals import approval_page_url, request_title
from dashboard.shared.formatting import credits


class WaitingRequest(NamedTuple):
    """`url` is its own page, for those who may decide it; `list_url` a page for all members;
    `version` differs if the same is asked for again."""

    id: UUID
    title: str
    text: str
    asked_at: datetime
    url: str
    list_url: str
    version: str = ""


def load_waiting_requests(team: Team) -> Iterator[WaitingRequest]:
    """Three queries."""
    charges = ApprovalRequest.objects.filter(team=team, decision="")
    for row in charges.select_related("member", "charge__job"):
        yield describe_charge_request(row)
    agents = AgentApproval.objects.waiting().filter(key__tenant=team.tenant_id)
    for asked in agents.select_related("key"):
        items = "one item" if asked.item_count == 1 else f"{asked.item_count} items"
        yield WaitingRequest(
            asked.pk,
            f"{asked.key.name} requests up to {credits(asked.credits)} cr",
            f"An agent asks once for {items}.{quote_note(asked.reason)}",
            asked.requested_at,
            reverse("agent-approval", args=[asked.pk]),
            reverse("agents"),
        )
    batches = Batch.objects.waiting_for_approval().filter(team=team)
    for batch in batches.select_related("member"):
        page = reverse("batch", args=[batch.pk])
        asked_at = batch.approval_requested_at or batch.created_at
        yield WaitingRequest(
            batch.pk,
            f"{batch.member.first_name} asks to start a batch",
            f"“{batch.name}”. Its page has the rows and what they cost.",
            asked_at,
            page,
            page,
            f"{asked_at:%d %b %H:%M}",
        )


def describe_charge_request(row: ApprovalRequest) -> WaitingRequest:
    return WaitingRequest(
        row.pk,
        f"{row.member.first_name} requests {credits(row.charge.hold)} cr",
        f"For {request_title(row)}.{quote_note(row.note)}",
        row.requested_at,
        approval_page_url(row),
        reverse("budgets"),
    )


def quote_note(note: str) -> str:
    return f" “{note}”" if note else ""
