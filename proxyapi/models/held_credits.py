"""The credits that open charges hold on an account, as a column of a query."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce

from proxyapi.models.charge import Charge


def held_credits_annotation(*, by_others: bool = False) -> Coalesce:
    """Annotates accounts with the credits that open charges of all teams on the upstream account
    hold, or those of the other teams alone."""
    charges = Charge.objects.holding().filter(
        account__environment=OuterRef("environment"), account__upstream_id=OuterRef("upstream_id")
    )
    if by_others:
        charges = charges.exclude(account=OuterRef("pk"))
    sums = charges.order_by().values("account__upstream_id").annotate(sum=Sum("hold"))
    return Coalesce(Subquery(sums.values("sum")), Decimal(0))
