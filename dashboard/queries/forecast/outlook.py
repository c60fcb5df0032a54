"""An account's forecast with what it was made from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime

from dashboard.queries.forecast.days import Ledger, ledger_of, whole
from proxyapi.forecast import Forecast, Offer, Pattern, Standing, Start, foresee, pattern_of
from proxyapi.forecast.pattern import WEEKS
from proxyapi.forecast.replay import ceiling
from proxyapi.forecast.runout import resting_days
from proxyapi.models import Account
from proxyapi.top_up import Inferred


@dataclass(frozen=True, slots=True)
class Outlook:
    """`forecast` is None with too few days; `alone` is the one as if no top-up came."""

    today: date
    ledger: Ledger
    pattern: Pattern
    forecast: Forecast | None = None
    alone: Forecast | None = None
    renews_on: date | None = None


def outlook_of(
    account: Account, standing: Standing, offer: Offer | None, inferred: Inferred, now: datetime
) -> Outlook:
    """One query, two of quiet days. A pack that nobody described counts as no top-up."""
    zone = account.vault.zone
    today = now.astimezone(zone).date()
    ledger = ledger_of(account, today, 7 * WEEKS)
    pattern = pattern_of(ledger.days, ledger.first or today, today)
    ends = account.plan_ends_at
    renews_on = ends.astimezone(zone).date() if ends and ends > now else None
    if not pattern.is_enough:
        return Outlook(today, ledger, pattern, renews_on=renews_on)
    seed, free = f"{account.pk} {today}", whole(standing.balance)
    alone = foresee(Start(today, free), pattern, seed)
    forecast = alone
    if offer is not None and offer.enabled:
        start = Start(
            on=today,
            balance=free,
            threshold=ceiling(offer.threshold),
            credits=whole(offer.credits),
            today=inferred.today,
            resting=resting_days(inferred.resting_until, now),
        )
        forecast = foresee(start, pattern, seed)
    return Outlook(today, ledger, pattern, forecast, alone, renews_on)
