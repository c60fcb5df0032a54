"""The overview of one reader, whole, and each part of it alone for a page that stays open."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, time

from django.utils import timezone

from dashboard.access import can
from dashboard.models import Membership
from dashboard.queries.costs import Closeness, closeness_of
from dashboard.queries.forecast.page import page_of as forecast_of
from dashboard.queries.forecast.words import Range
from dashboard.queries.overview.asks import Asks, asks_from
from dashboard.queries.overview.concerns import concerns_of
from dashboard.queries.overview.credits import Credits, credits_from, ledgered
from dashboard.queries.overview.running import Running, running_of
from dashboard.queries.overview.spend import Spend, spend_from
from dashboard.queries.overview.sums import Sums, sums_of
from dashboard.queries.overview.window import Window, window_of
from dashboard.queries.purse import Counts, counts_of, purse_from
from dashboard.queries.shell import Shell
from dashboard.roles import Permission
from proxyapi.models import Account


@dataclass(frozen=True, slots=True)
class Overview:
    """A part that was not asked for is None."""

    window: Window
    credits: Credits | None = None
    asks: Asks | None = None
    spend: Spend | None = None
    running: Running | None = None
    forecast: Range | None = None
    closeness: Closeness | None = None


def overview_of(reader: Membership, shell: Shell, span: str) -> Overview:
    """The whole page: five queries beside the shell's, two while nothing renders."""
    window = window_for(reader, span)
    accounts, sums = shell.accounts, summed(reader, shell.accounts, window)
    return Overview(
        window=window,
        credits=credits_from(accounts, shell.purse, shell.counts, sums),
        asks=asks_for(reader, accounts),
        spend=spend_from(sums),
        running=running_of(reader.team.vault_id, shell.counts.running),
    )


def credits_part(reader: Membership, span: str) -> Overview:
    window, accounts = window_for(reader, span), tuple(ledgered(reader.team.vault))
    held, counts = counts_of(reader.team.vault)
    sums = summed(reader, accounts, window)
    return Overview(
        window, credits=credits_from(accounts, purse_from(accounts, held), counts, sums)
    )


def asks_part(reader: Membership, span: str) -> Overview:
    accounts = tuple(ledgered(reader.team.vault))
    return Overview(window_for(reader, span), asks=asks_for(reader, accounts))


def spend_part(reader: Membership, span: str) -> Overview:
    window, accounts = window_for(reader, span), tuple(ledgered(reader.team.vault))
    return Overview(window, spend=spend_from(summed(reader, accounts, window)))


def running_part(reader: Membership, span: str) -> Overview:
    counts: Counts = counts_of(reader.team.vault)[1]
    running = running_of(reader.team.vault_id, counts.running)
    return Overview(window_for(reader, span), running=running)


def forecast_part(reader: Membership, span: str) -> Overview:
    """Of a team with one account; each of several has its own forecast."""
    accounts = tuple(ledgered(reader.team.vault).select_related("vault"))
    told = forecast_of(accounts[0], accounts).range if len(accounts) == 1 else None
    return Overview(window_for(reader, span), forecast=told)


def estimates_part(reader: Membership, span: str) -> Overview:
    accounts = tuple(ledgered(reader.team.vault))
    return Overview(window_for(reader, span), closeness=closeness_of(accounts))


PARTS: Mapping[str, Callable[[Membership, str], Overview]] = {
    "credits": credits_part,
    "asks": asks_part,
    "spend": spend_part,
    "spenders": spend_part,
    "running": running_part,
    # What is worth a page of its own comes after the page.
    "forecast": forecast_part,
    "estimates": estimates_part,
}


def window_for(reader: Membership, span: str) -> Window:
    return window_of(span, reader.team.vault.zone, timezone.now())


def summed(reader: Membership, accounts: Sequence[Account], window: Window) -> Sums:
    return sums_of(reader.team, [account.pk for account in accounts], window)


def asks_for(reader: Membership, accounts: Sequence[Account]) -> Asks:
    now, zone = timezone.now(), reader.team.vault.zone
    first = now.astimezone(zone).date().replace(day=1)
    month = datetime.combine(first, time.min, zone)
    concerns = concerns_of(reader.team, [account.pk for account in accounts], month, now)
    return asks_from(accounts, concerns, now, top_up=can(reader, Permission.MANAGE_MONEY))
