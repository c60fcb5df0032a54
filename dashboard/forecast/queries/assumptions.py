"""What a forecast takes for granted, in sentences: who knows it is wrong knows how."""

from __future__ import annotations

from dashboard.shared.forecast.outlook import AccountForecast
from dashboard.shared.formatting import credits
from proxyapi.forecast import TopUpOffer
from proxyapi.forecast.run_out import SIMULATION_RUNS
from proxyapi.models import Account
from proxyapi.top_up import TopUpSetting

HOLDS_TEXT = "What open charges hold counts as spent already, and today as a whole day to come."
RENEWAL_TEXT = (
    "Credits that the plan brings at its renewal are not counted, nor are packs bought by hand."
)
EVEN_CHARGES_TEXT = (
    "The charges of one day are taken to be even. One large job can meet its limit sooner."
)
TOP_UP_TEXT = (
    "Top-up buys {each} credits after a spend through the API that leaves less than {tenth}, "
    "and every payment is taken to succeed."
)
UNKNOWN_PACK_TEXT = (
    "Top-up buys pack {pack}, and nobody has said what that holds, so it is not counted."
)
UTC_DAY_TEXT = (
    "The three top-ups a day count by the UTC day at the service, here by the team's day."
)


def build_forecast_assumptions(
    account: Account, outlook: AccountForecast, setting: TopUpSetting, offer: TopUpOffer | None
) -> tuple[str, ...]:
    if outlook.forecast is None:
        return ()
    return (
        sampling_assumption_text(outlook),
        HOLDS_TEXT,
        RENEWAL_TEXT,
        EVEN_CHARGES_TEXT,
        *top_up_assumption_texts(account, setting, offer),
    )


def sampling_assumption_text(outlook: AccountForecast) -> str:
    known = outlook.pattern.known_days
    if outlook.pattern.knows_weekdays:
        drawn = f"a day of the same weekday out of the last {known}"
    else:
        drawn = f"a workday or a weekend day out of the last {known}: weekdays need three weeks"
    return f"{SIMULATION_RUNS} futures are drawn. Each day to come is {drawn}, whole as it was."


def top_up_assumption_texts(
    account: Account, setting: TopUpSetting, offer: TopUpOffer | None
) -> tuple[str, ...]:
    if offer is None:
        return (UNKNOWN_PACK_TEXT.format(pack=setting.plan_id),)
    if not offer.enabled:
        return ("Automatic top-up is off, or was never read.",)
    buys = TOP_UP_TEXT.format(each=credits(offer.credits), tenth=credits(offer.threshold))
    return (buys, UTC_DAY_TEXT)
