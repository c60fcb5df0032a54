"""Credits that are not settled: unknown charges, unexplained debits, refunds owed, old holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Count, Min, Q, Sum
from django.db.models.functions import Coalesce

from dashboard.models import Team
from dashboard.shared.outside_spend import OUTSIDE_SPEND_AGE, load_unexpected_days
from dashboard.shared.videos.cost import CreditAmount
from proxyapi.models import Account, Charge, ChargeState
from proxyapi.models.charge import HOLDING_STATES

OLD_HOLD_AFTER = timedelta(hours=1)
ZERO_CREDITS = Decimal(0)


@dataclass(frozen=True, slots=True)
class UnsettledCredits:
    """`unknown` is what the unknown charges may have cost; `oldest` the age of the first one.
    `outside` leaves out what named sources spent within their daily limits."""

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
    """Three queries, and one for the named sources of outside spend if there are any."""
    charges, unknown = Charge.objects.filter(tenant=team.tenant_id), Q(state=ChargeState.UNKNOWN)
    old = Q(held_at__lt=now - OLD_HOLD_AFTER) & ~unknown
    held = charges.filter(state__in=HOLDING_STATES).aggregate(
        count=Count("pk", filter=unknown),
        unknown=Sum("hold", filter=unknown),
        oldest=Min("sent_at", filter=unknown),
        old=Sum("hold", filter=old),
    )
    owed = charges.filter(refund_owed_at__isnull=False, refunded_at__isnull=True)
    accounts = Account.objects.filter(tenant=team.tenant_id)
    outside = load_unexpected_days(accounts, now - OUTSIDE_SPEND_AGE, team.tenant.zone)
    return UnsettledCredits(
        unknown_count=held["count"],
        unknown=held["unknown"] or ZERO_CREDITS,
        oldest=now - held["oldest"] if held["oldest"] else None,
        outside_count=sum(day.debits for day, _ in outside),
        outside=sum((day.credits for day, _ in outside), ZERO_CREDITS),
        refunds_owed=owed.aggregate(sum=Sum(Coalesce("cost", "hold")))["sum"] or ZERO_CREDITS,
        old_holds=held["old"] or ZERO_CREDITS,
    )
