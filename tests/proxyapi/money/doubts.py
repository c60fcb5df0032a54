"""Doubts: charges that reading alone cannot tell apart, and the person who does.

Of two lost charges of one price, one may never have left. The one debit does not say whose it is,
and the engine does not guess (law 2): it is left to people, who look at what there is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal

from proxyapi.charges import settle_with_entry, write_off_charge
from proxyapi.charges.dispatch import build_path_params
from proxyapi.models import Charge, ChargeState, LedgerEntry
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.upstream.catalog import operation
from tests.proxyapi.money.stage import Stage

Where = tuple[str, str]  # method and path


def where(charge: Charge) -> Where:
    row = operation(charge.operation)
    return row.method, "/v2" + row.path.format(**build_path_params(charge))


def taken(stage: Stage) -> Mapping[Where, list[Decimal]]:
    """What the sandbox took for each request that it let in, by its journal."""
    found = defaultdict[Where, list[Decimal]](list)
    for line in stage.control.get("journal").json():
        if line["method"] != "GET" and line["status"] != 429:
            found[line["method"], line["path"]].append(Decimal(line["charge"]))
    return found


def is_doubtful(charge: Charge) -> bool:
    """Whether the debits that nobody has are too few for all the lost charges that they fit."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    lost = of_all_teams.filter(state=ChargeState.UNKNOWN)
    its = [-entry.amount for entry in nobodys(charge) if charge.can_cost(-entry.amount)]
    rivals = [one for one in lost if any(one.can_cost(amount) for amount in its)]
    return charge in rivals and len(its) < len(rivals)


def nobodys(charge: Charge) -> list[LedgerEntry]:
    rows = LedgerEntry.objects.without_charge().filter(account_id=charge.account_id, via_api=True)
    return list(rows.filter(amount__lt=0))


def decide(stage: Stage) -> tuple[list[str], list[str]]:
    """A person ends what is doubtful, by what the sandbox took. What they ended, and what is open
    although nothing about it is doubtful."""
    theirs, ended, stuck = taken(stage), list[str](), list[str]()
    open_ = list(Charge.objects.filter(account=stage.token.account).holding().order_by("sent_at"))
    doubtful = [charge for charge in open_ if is_doubtful(charge)]
    for charge in open_:
        told = f"{charge.operation} {charge.state} {charge.price} {charge.reason}"
        if charge not in doubtful:
            stuck.append(told)
            continue
        its = unexplained(charge, theirs[where(charge)])
        debit = next((entry for entry in nobodys(charge) if -entry.amount in its), None)
        if debit:
            settle_with_entry(charge, debit, stage.token.owner_id)
        else:
            write_off_charge(charge, stage.token.owner_id, "It is not among the videos.")
        ended.append(f"{told}: {charge.state}")
    return ended, stuck


def unexplained(charge: Charge, theirs: list[Decimal]) -> Counter[Decimal]:
    """What was taken where it went and is no settled charge's cost."""
    settled = Charge.objects.of_upstream_account(charge.account_id).filter(state__in=CHARGED_STATES)
    ours = [one.cost for one in settled.select_related("job") if where(one) == where(charge)]
    return Counter(filter(None, theirs)) - Counter(filter(None, ours))
