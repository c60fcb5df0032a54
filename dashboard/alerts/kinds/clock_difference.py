"""Clocks that differ: this server's from the service's, or the ledger's times from our charges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.urls import reverse

from dashboard.alerts.declaration import AlertFinding, AlertKindSpec
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.formatting import duration
from proxyapi.clock_offset import (
    NO_OFFSET,
    ClockSource,
    read_clock_difference_since,
    read_clock_offset,
)

SERVICE_TEXT = (
    "It is {by} {direction} the service's. Until it is set, debits are matched with less "
    "certainty, and a charge whose response was lost may wait for a member."
)
LEDGER_TEXT = (
    "A debit of a charge was recorded {by} {direction} its request. Until the clocks agree, check "
    "matches that are not certain."
)
# Title, text, and its direction where the other clock is ahead of the portal's, or behind it.
TEXTS = {
    ClockSource.DATE_HEADER: (
        "The portal's clock differs from the service's",
        SERVICE_TEXT,
        "behind",
        "ahead of",
    ),
    ClockSource.LEDGER: (
        "The ledger's times differ from the portal's",
        LEDGER_TEXT,
        "after",
        "before",
    ),
}


def find_clock_differences(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Each once, from when a clock began to differ until it is right again."""
    for source, (title, text, ahead, behind) in TEXTS.items():
        if since := read_clock_difference_since(source):
            offset = read_clock_offset(source)
            direction = ahead if offset > NO_OFFSET else behind
            words = text.format(by=duration(abs(offset)), direction=direction)
            yield AlertFinding(
                rules[0],
                source,
                title,
                words,
                "failed",
                reverse("operations"),
                since,
                for_money=True,
            )


SPEC = AlertKindSpec(
    kind=AlertKind.CLOCK,
    sentence="The portal's clock and the service's differ by more than 30 s",
    find=find_clock_differences,
)
