"""Prices that are known before asking: the cost map, and what this video's renders took before."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal

from django.conf import settings

from proxyapi.models import Account, Charge, Job
from proxyapi.models.charge import SPENT
from proxyapi.upstream import wire

SCRIPT_KEY = "CONTENT_PROMPT_REQUESTED"
SCRIPT_FALLBACK = Decimal(4)  # only until the cost map was read once
SCRIPTS = ("faceless.scripts", "faceless.scrape_script")
RENDERS = ("faceless.render", "faceless.retry")


def feature(account: Account, key: str) -> dict[str, object]:
    """The row of the cost map for a feature, whatever the case of its key (pitfall 59)."""
    for name, row in account.costs.items():
        if name.upper() == key and isinstance(row, dict):
            return row
    return {}


def script(account: Account) -> Decimal:
    """Credits of one generated script; free uses may make it less (pitfall 57)."""
    credits = wire.amount(feature(account, SCRIPT_KEY).get("credits"))
    return credits if credits is not None and credits >= 0 else SCRIPT_FALLBACK


def free_scripts(account: Account) -> int:
    free = feature(account, SCRIPT_KEY).get("free")
    return free if isinstance(free, int) else 0


def has_free_uses(charge: Charge) -> bool:
    """Whether it may have taken a free use, which leaves no debit (pitfall 57)."""
    return charge.operation in SCRIPTS and free_scripts(charge.account) > 0


def retry(job: Job) -> Decimal | None:
    """About what a retry takes: a newer estimate, else what the last render took.

    None while the settings have no price: a retry renders them as they stand.
    """
    if job.unsent():
        return None
    last = job.charges.filter(operation__in=RENDERS, state__in=SPENT).order_by("-sent_at").first()
    if last is None or last.cost is None or is_newer(job, last):
        return job.estimate
    return last.cost


def is_newer(job: Job, last: Charge) -> bool:
    """Whether the settings were priced again after that render."""
    if job.estimate is None or job.estimate_as_of is None or last.sent_at is None:
        return False
    return job.estimate_as_of > last.sent_at


def hold_for(quote: Decimal) -> Decimal:
    """What is held for an approximate price: a little above it, in whole credits (pitfall 43)."""
    margin = Decimal(str(settings.HOLD_MARGIN))
    return (quote * margin).to_integral_value(rounding=ROUND_CEILING)
