"""What needs attention, counted; each line leads to the page that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count
from django.urls import reverse

from dashboard.models import (
    ApprovalRequest,
    AuditChainCheck,
    Delivery,
    DeliveryChannel,
    DeliveryState,
    Membership,
)
from dashboard.operations.queries.unsettled_credits import UnsettledCredits
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import clock, credits, duration
from dashboard.shared.roles import Permission
from proxyapi.models import LedgerConflict, Token, TokenState

FAILED_DELIVERIES_AGE = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OpenItem:
    """`state` chooses the glyph."""

    state: str
    title: str
    text: str
    link_label: str
    url: str


def load_open_items(
    reader: Membership, money: UnsettledCredits, tokens: Sequence[Token], now: datetime
) -> tuple[OpenItem, ...]:
    """Four queries."""
    return tuple(iter_open_items(reader, money, tokens, now))


def iter_open_items(
    reader: Membership, money: UnsettledCredits, tokens: Sequence[Token], now: datetime
) -> Iterator[OpenItem]:
    team, reconciliation = reader.team, reverse("reconciliation")
    conflicts = LedgerConflict.objects.filter(
        account__tenant=team.tenant_id, accepted_at__isnull=True
    ).count()
    if conflicts:
        text = "The ledger is not updated until somebody has reviewed what the service changed."
        title = f"{number_text(conflicts, 'ledger row')} changed at the service"
        yield OpenItem("late", title, text, "Review them", reconciliation)
    if money.unknown_count:
        yield unknown_charges_item(money, reconciliation)
    if money.refunds_owed:
        text = "The renders failed; the refunds are not in the ledger yet."
        title = f"The service owes {credits(money.refunds_owed)} cr back"
        yield OpenItem("late", title, text, "View refunds owed", f"{reconciliation}#refunds")
    for token in tokens:
        if token.state == TokenState.REVOKED:
            yield stopped_token_item(token)
    yield from iter_team_items(reader, now)


def unknown_charges_item(money: UnsettledCredits, url: str) -> OpenItem:
    one = money.unknown_count == 1
    age = f" The oldest has waited for {duration(money.oldest)}." if money.oldest else ""
    text = f"{'It was' if one else 'They were'} sent and got no answer; not sent again.{age}"
    title = f"{number_text(money.unknown_count, 'charge')} {'is' if one else 'are'} unknown"
    return OpenItem("unknown", title, text, "Follow up", url)


def stopped_token_item(token: Token) -> OpenItem:
    title = f"The token of {token.owner} stopped working"
    text = f"The service refuses …{token.last_four} since {clock(token.state_since)}."
    return OpenItem("paused", title, text, "View tokens", reverse("tokens"))


def iter_team_items(reader: Membership, now: datetime) -> Iterator[OpenItem]:
    team = reader.team
    pending = ApprovalRequest.objects.filter(team=team, decision="").count()
    if pending:
        title = f"{number_text(pending, 'approval request')} {'waits' if pending == 1 else 'wait'}"
        text = "They are above a budget."
        yield OpenItem("waiting", title, text, "Review", reverse("budgets"))
    failed = Delivery.objects.filter(
        event__team=team,
        channel=DeliveryChannel.WEBHOOK,
        state=DeliveryState.FAILED,
        created_at__gt=now - FAILED_DELIVERIES_AGE,
    )
    fields = ("address", "webhook", "webhook__name")
    by_webhook = failed.order_by(*fields).values_list(*fields)
    for host, _webhook, name, count in by_webhook.annotate(count=Count("pk")):
        text = f"{number_text(count, 'delivery', 'deliveries')} failed in the last 24 hours."
        may_see = has_permission(reader, Permission.MANAGE_MONEY)
        link = ("View deliveries", "alert-deliveries") if may_see else ("View alerts", "alerts")
        yield OpenItem(
            "late", f"The webhook {name or f'of {host}'} fails", text, link[0], reverse(link[1])
        )
    check = AuditChainCheck.objects.filter(pk=team.pk, broken_position__isnull=False).first()
    if check is not None:
        yield OpenItem(
            "failed", "The audit chain is broken", check.problem, "View audit log", reverse("audit")
        )


def number_text(count: int, noun: str, plural: str = "") -> str:
    """ "One charge", "3 charges"."""
    return f"One {noun}" if count == 1 else f"{count} {plural or noun + 's'}"
