"""What is found about the future: credits that do not last so many days.

Apart from the other looks, for it draws hundreds of futures: it is looked at every quarter of an
hour, and by tasks alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from dashboard.alerting.evaluate import Look
from dashboard.alerting.finding import Finding, page, week
from dashboard.alerting.money import opened
from dashboard.models import AlertRule, Team, Watch
from dashboard.queries.forecast import offer_of, packs_of, standing_of
from dashboard.queries.forecast.outlook import Outlook, outlook_of
from dashboard.queries.forecast.words import chance, lowered, span
from proxyapi.models import Account, AutoTopUp
from proxyapi.top_up import TopUpSetting, infer_top_up_state


def lasting(team: Team, rules: Sequence[AlertRule], now: datetime) -> Iterator[Finding]:
    """Credits that run out within the threshold, in one of ten futures, before the plan renews."""
    accounts = opened(team).exclude(balance_as_of=None)
    for account in accounts.select_related("vault", "ledger", "top_up"):
        outlook = outlook_now(account, now)
        forecast = outlook.forecast
        if forecast is None or forecast.early is None:
            continue
        if outlook.renews_on is not None and outlook.renews_on <= forecast.early:
            continue
        days = (forecast.early - outlook.today).days
        for rule in rules:
            if days < rule.threshold:
                yield Finding(
                    rule,
                    str(account.pk),
                    title(days),
                    f"On {account.label} they run out {lowered(span(forecast))}. "
                    f"{chance(forecast)}",
                    "late" if days else "failed",
                    page("forecast", f"?account={account.pk}"),
                    week(team, now),
                )


def title(days: int) -> str:
    if not days:
        return "The credits may run out today"
    return f"The credits may last {days} day{'' if days == 1 else 's'}"


def outlook_now(account: Account, now: datetime) -> Outlook:
    """As the page of the forecast has it; five queries at most."""
    row = getattr(account, "top_up", None)
    known = row if isinstance(row, AutoTopUp) and row.read_at else None
    setting = TopUpSetting.from_row(known) if known else TopUpSetting()
    inferred = infer_top_up_state(account, known, now)
    offer = offer_of(account, setting, packs_of(account))
    standing = standing_of(account, known, inferred, account.available_balance(), now)
    return outlook_of(account, standing, offer, inferred, now)


LOOKS: Mapping[str, Look] = {Watch.FORECAST: lasting}
