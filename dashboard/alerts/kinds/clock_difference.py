"""Clocks that differ: this server's from the service's, or the ledger's times from our charges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.urls import reverse

from dashboard.alerts.declaration import AlertFinding, AlertKindSpec
from dashboard.models import AlertKind, AlertRule, Team
from dashboard.shared.clock_differences import read_clock_differences


def find_clock_differences(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """Each once, from when a clock began to differ until it is right again."""
    for clock in read_clock_differences():
        yield AlertFinding(
            rules[0],
            clock.source,
            clock.title,
            clock.text,
            "failed",
            reverse("operations"),
            clock.since,
            for_money=True,
        )


SPEC = AlertKindSpec(
    kind=AlertKind.CLOCK,
    sentence="The portal's clock and the service's differ by more than 30 s",
    find=find_clock_differences,
)
