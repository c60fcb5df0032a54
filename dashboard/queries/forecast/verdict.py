"""Whether a batch can be afforded: yes, only with top-ups, or no; and by when it has gone out."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from dashboard.templatetags.reelroom import clock, credits
from proxyapi.forecast import Answer, Batch, Offer, Standing, afford
from proxyapi.top_up import utc_midnight

SOON = 60  # seconds: a batch that goes within a minute goes now


@dataclass(frozen=True, slots=True)
class Wish:
    """So many charges of about so many credits each."""

    count: int
    each: Decimal

    @property
    def total(self) -> Decimal:
        return self.count * self.each


@dataclass(frozen=True, slots=True)
class Verdict:
    """`state` of a banner."""

    state: str
    title: str
    text: str


def verdict_of(standing: Standing, offer: Offer | None, now: datetime, wish: Wish) -> Verdict:
    """A pack that nobody described is no top-up here."""
    known = offer or Offer(False, Decimal(0), Decimal(0))
    batch = afford(standing, known, now, wish.count, wish.each)
    total, free = credits(wish.total), credits(standing.balance)
    asks = f"{wish.count} × {credits(wish.each)} = {total} cr, {free} are free."
    if batch.answer is Answer.NO:
        return Verdict("failed", no(batch, wish), f"{asks} {lacking(batch, known)}")
    bought = bought_words(batch, known)
    if batch.answer is Answer.YES:
        left = f"It leaves {credits(batch.left)}."
        return Verdict("good", "Yes, all of it now.", f"{asks} {left}{bought}")
    when = "now" if (batch.at - now).total_seconds() < SOON else f"by {clock(batch.at)}"
    return Verdict("late", f"Only with top-up, {when}.", f"{asks}{bought}{waits(batch, now)}")


def no(batch: Batch, wish: Wish) -> str:
    if not batch.sent:
        return "No, not even the first one."
    return f"No, {batch.sent} of {wish.count} go."


def lacking(batch: Batch, offer: Offer) -> str:
    said = f"The next one lacks {credits(batch.short)}."
    if not offer.enabled:
        return f"{said} Automatic top-up is off."
    tenth = credits(offer.threshold)
    return f"{said} A top-up comes only after a spend through the API, under {tenth}."


def bought_words(batch: Batch, offer: Offer) -> str:
    if not batch.top_ups:
        return ""
    times = "One top-up" if batch.top_ups == 1 else f"{batch.top_ups} top-ups"
    together = credits(batch.top_ups * offer.credits)
    return f" {times} on the way, {together} credits bought with the saved card."


def waits(batch: Batch, now: datetime) -> str:
    if (batch.at - now).total_seconds() < SOON:
        return ""
    days = (utc_midnight(batch.at) - utc_midnight(now)).days
    why = "three top-ups a UTC day are the most" if days else "the service waits after a failure"
    return f" It takes until {clock(batch.at)}, because {why}."
