"""Ledger problems: the mirror stopped at an entry that changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from django.db.models import Exists, Max, OuterRef
from django.urls import reverse

from dashboard.alerts.declaration import (
    AlertFinding,
    AlertKindSpec,
    weekly_period,
)
from dashboard.models import AlertKind, AlertRule, Team
from proxyapi.models import LedgerMirror, Token


def find_ledger_problems(
    team: Team, rules: Sequence[AlertRule], now: datetime
) -> Iterator[AlertFinding]:
    """At most once a week per changed row: a new conflict after a repair is reported at once."""
    tokens = Token.objects.not_removed().filter(account=OuterRef("account"))
    rows = LedgerMirror.objects.filter(Exists(tokens), account__tenant=team.tenant_id)
    rows = rows.exclude(problem="").annotate(changed=Max("account__ledger_conflicts__pk"))
    for row in rows.select_related("account"):
        for rule in rules:
            yield AlertFinding(
                rule,
                str(row.pk),
                "The ledger needs review",
                f"On {row.account.label}. {row.problem}"[:400],
                "failed",
                reverse("reconciliation"),
                f"{weekly_period(team, now)}, {row.changed}"
                if row.changed
                else weekly_period(team, now),
                for_money=True,
            )


SPEC = AlertKindSpec(
    kind=AlertKind.RECONCILIATION,
    sentence="The ledger has a problem",
    find=find_ledger_problems,
)
