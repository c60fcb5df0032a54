"""Credits that are not settled: unknown charges, unexplained debits, refunds owed, old holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Coalesce, Round

from dashboard.models import Team
from dashboard.shared.videos.cost import CreditAmount
from proxyapi.models import Account, Charge, ChargeState, LedgerEntry
from proxyapi.models.charge import HOLDING_STATES

OLD_HOLD_AFTER = timedelta(hours=1)
OUTSIDE_SPEND_AGE = timedelta(days=30)
ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class UnsettledCredits:
    """`unknown` is what the unknown charges may have cost; `oldest` the age of the first one."""

    unknown_count: int
    unknown: Decimal
    oldest: timedelta | None
    outside_count: int
    outside: Decimal
    refunds_owed: Decimal
    old_holds: Decimal

    @property
    def figure(self) -> CreditAmount:
        """Return the one large figure: what may be lost."""
        return CreditAmount(self.unknown, "unknown" if self.unknown else "exact")


def load_unsettled_credits(team: Team, now: datetime) -> UnsettledCredits:
    """Three queries."""
    charges, unknown = Charge.objects.filter(tenant=team.tenant_id), Q(state=ChargeState.UNKNOWN)
    old = Q(held_at__lt=now - OLD_HOLD_AFTER) & ~unknown
    held = charges.filter(state__in=HOLDING_STATES).aggregate(
        count=Count("pk", filter=unknown),
        unknown=Sum("hold", filter=unknown),
        oldest=Min("sent_at", filter=unknown),
        old=Sum("hold", filter=old),
    )
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True)
    outside_count, outside = load_outside_spend(team.tenant_id, now)
    return UnsettledCredits(
        unknown_count=held["count"],
        unknown=held["unknown"] or ZERO_CREDITS,
        oldest=now - held["oldest"] if held["oldest"] else None,
        outside_count=outside_count,
        outside=outside,
        refunds_owed=owed.aggregate(sum=Sum(Coalesce("cost", "hold")))["sum"] or ZERO_CREDITS,
        old_holds=held["old"] or ZERO_CREDITS,
    )


def load_outside_spend(tenant_id: UUID, now: datetime) -> tuple[int, Decimal]:
    """Return number and credits of the debits of the last 30 days that no charge of a team of this
    portal explains, since their account was added."""
    accounts = Account.objects.filter(tenant=tenant_id)
    entries = LedgerEntry.objects.outside_spend(accounts, now - OUTSIDE_SPEND_AGE)
    found = entries.aggregate(count=Count("pk"), sum=Round(-Sum("amount"), precision=4))
    return found["count"], found["sum"] or ZERO_CREDITS
