"""Whether a batch can be afforded: yes, only with top-ups, or no; and by when it has gone out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.shared.formatting import clock, credits
from proxyapi.forecast import (
    BatchAnswer,
    BatchForecast,
    SimulatedAccount,
    TopUpOffer,
    forecast_batch,
)
from proxyapi.top_up import utc_midnight

NOW_WITHIN_S = 60  # seconds: a batch that goes within a minute goes now


@dataclass(frozen=True, slots=True)
class BatchInput:
    """So many charges of about so many credits each."""

    count: int
    credits_each: Decimal

    @property
    def total(self) -> Decimal:
        return self.count * self.credits_each


@dataclass(frozen=True, slots=True)
class BatchVerdict:
    """`state` of a banner."""

    state: str
    title: str
    text: str


def build_batch_verdict(
    standing: SimulatedAccount, offer: TopUpOffer | None, now: datetime, wish: BatchInput
) -> BatchVerdict:
    """A pack that nobody described is no top-up here."""
    known = offer or TopUpOffer(False, Decimal(0), Decimal(0))
    batch = forecast_batch(standing, known, now, wish.count, wish.credits_each)
    total, free = credits(wish.total), credits(standing.balance)
    asks = f"{wish.count} × {credits(wish.credits_each)} = {total} cr, {free} are free."
    if batch.answer is BatchAnswer.NO:
        return BatchVerdict(
            "failed",
            unaffordable_title(batch, wish),
            f"{asks} {batch_shortfall_text(batch, known)}",
        )
    bought = batch_top_ups_text(batch, known)
    if batch.answer is BatchAnswer.YES:
        left = f"It leaves {credits(batch.credits_left)}."
        return BatchVerdict("good", "Yes, all of it now.", f"{asks} {left}{bought}")
    when = (
        "now"
        if (batch.finished_at - now).total_seconds() < NOW_WITHIN_S
        else f"by {clock(batch.finished_at)}"
    )
    return BatchVerdict(
        "late", f"Only with top-up, {when}.", f"{asks}{bought}{batch_delay_text(batch, now)}"
    )


def unaffordable_title(batch: BatchForecast, wish: BatchInput) -> str:
    if not batch.sent_count:
        return "No, not even the first one."
    return f"No, {batch.sent_count} of {wish.count} go."


def batch_shortfall_text(batch: BatchForecast, offer: TopUpOffer) -> str:
    said = f"The next one lacks {credits(batch.missing_credits)}."
    if not offer.enabled:
        return f"{said} Automatic top-up is off."
    tenth = credits(offer.threshold)
    return f"{said} A top-up comes only after a spend through the API, under {tenth}."


def batch_top_ups_text(batch: BatchForecast, offer: TopUpOffer) -> str:
    if not batch.top_ups:
        return ""
    times = "One top-up" if batch.top_ups == 1 else f"{batch.top_ups} top-ups"
    together = credits(batch.top_ups * offer.credits)
    return f" {times} on the way, {together} credits bought with the saved card."


def batch_delay_text(batch: BatchForecast, now: datetime) -> str:
    if (batch.finished_at - now).total_seconds() < NOW_WITHIN_S:
        return ""
    days = (utc_midnight(batch.finished_at) - utc_midnight(now)).days
    why = "three top-ups a UTC day are the most" if days else "the service waits after a failure"
    return f" It takes until {clock(batch.finished_at)}, because {why}."
