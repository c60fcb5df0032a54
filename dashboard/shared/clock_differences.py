"""Clocks that differ by more than is tolerated, in words: this server's from the service's, and the
ledger's times from those of our charges."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from dashboard.shared.formatting import duration
from proxyapi.clock_offset import (
    NO_OFFSET,
    ClockSource,
    read_clock_difference_since,
    read_clock_offset,
)

SERVICE_TEXT = (
    "It is {by} {direction} the service's. Set it by NTP. Until then debits are matched with less "
    "certainty, and a charge whose response was lost may wait for a member."
)
LEDGER_TEXT = (
    "A debit of a charge was recorded {by} {direction} its request. Until the clocks agree, check "
    "matches that are not certain."
)
# Name, title, text, and its direction where the other clock is ahead of the portal's, or behind it.
CLOCKS = {
    ClockSource.DATE_HEADER: (
        "Clock of this server",
        "The portal's clock differs from the service's",
        SERVICE_TEXT,
        "behind",
        "ahead of",
    ),
    ClockSource.LEDGER: (
        "Clock of the ledger",
        "The ledger's times differ from the portal's",
        LEDGER_TEXT,
        "after",
        "before",
    ),
}


class ClockDifference(NamedTuple):
    """`since` identifies the time since when the clocks differ."""

    source: ClockSource
    name: str
    title: str
    text: str
    offset: timedelta
    since: str


def read_clock_differences() -> Iterator[ClockDifference]:
    for source, (name, title, text, ahead, behind) in CLOCKS.items():
        if since := read_clock_difference_since(source):
            offset = read_clock_offset(source)
            direction = ahead if offset > NO_OFFSET else behind
            words = text.format(by=duration(abs(offset)), direction=direction)
            yield ClockDifference(source, name, title, words, offset, since)
