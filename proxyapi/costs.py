"""Prices that are known before asking: the cost map, and what this video's renders took before."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Job
from proxyapi.models.charge import SPENT

SCRIPT_KEY = "CONTENT_PROMPT_REQUESTED"
SCRIPT_FALLBACK = Decimal(4)  # only until the cost map was read once
RENDERS = ("faceless.render", "faceless.retry")


def feature(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    for name, row in account.costs.items():
        if name.upper() == key and isinstance(row, dict):
            return row
    return {}


def script(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = feature(account, SCRIPT_KEY).get("credits")
    return Decimal(str(credits)) if credits is not None else SCRIPT_FALLBACK


def free_scripts(account: Account) -> int:
    free = feature(account, SCRIPT_KEY).get("free")
    return free if isinstance(free, int) else 0


def retry(job: Job) -> Decimal | None:
    """About what a retry takes: what the last render took, else its estimate."""
    last = job.charges.filter(operation__in=RENDERS, state__in=SPENT).order_by("-sent_at").first()
    return last.cost if last and last.cost is not None else job.estimate


def hold_for(quote: Decimal) -> Decimal:
    """What is held for an approximate price: a little above it, in whole credits (pitfall 43)."""
    margin = Decimal(str(settings.HOLD_MARGIN))
    return (quote * margin).to_integral_value(rounding=ROUND_CEILING)
