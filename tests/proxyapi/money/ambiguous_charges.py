"""Doubts: charges that reading alone cannot tell apart, and the person who does.

Of two lost charges of one price, one may never have left. The one debit does not say whose it is,
and the engine does not guess (rule 2): it is left to people, who look at what there is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from decimal import Decimal

from proxyapi.charges import settle_with_entry, write_off_charge
from proxyapi.charges.dispatch import build_path_params
from proxyapi.models import Charge, ChargeState, LedgerEntry
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import get_operation
from tests.proxyapi.money.sandbox_account import SandboxAccount

Where = tuple[str, str]  # method and path


def charge_target(charge: Charge) -> Where:
    row = get_operation(charge.operation)
    return row.method, "/v2" + row.path.format(**build_path_params(charge))


def taken_per_request(stage: SandboxAccount) -> Mapping[Where, list[Decimal]]:
    """What the sandbox took for each request that it let in, by its journal."""
    found = defaultdict[Where, list[Decimal]](list)
    for line in stage.control.get("journal").json():
        if line["method"] != "GET" and line["status"] != 429:
            found[line["method"], line["path"]].append(Decimal(line["charge"]))
    return found


def is_ambiguous(charge: Charge) -> bool:
    """Whether the debits that nobody has are too few for all the lost charges that they fit."""
    of_all_teams = Charge.objects.of_upstream_account(charge.account_id)
    lost = of_all_teams.filter(state=ChargeState.UNKNOWN)
    its = [-entry.amount for entry in unmatched_debits(charge) if charge.can_cost(-entry.amount)]
    rivals = [one for one in lost if any(one.can_cost(amount) for amount in its)]
    return charge in rivals and len(its) < len(rivals)


def unmatched_debits(charge: Charge) -> list[LedgerEntry]:
    rows = LedgerEntry.objects.without_charge().filter(account_id=charge.account_id, via_api=True)
    return list(rows.filter(amount__lt=0))


def decide_ambiguous(stage: SandboxAccount) -> tuple[list[str], list[str]]:
    """A person ends what is doubtful, by what the sandbox took. What they ended, and what is open
    although nothing about it is doubtful."""
    theirs, ended, stuck = taken_per_request(stage), list[str](), list[str]()
    open_ = list(Charge.objects.filter(account=stage.token.account).holding().order_by("sent_at"))
    doubtful = [charge for charge in open_ if is_ambiguous(charge)]
    for charge in open_:
        told = f"{charge.operation} {charge.state} {charge.price} {charge.reason}"
        if charge not in doubtful:
            stuck.append(told)
            continue
        its = unexplained_credits(charge, theirs[charge_target(charge)])
        debit = next((entry for entry in unmatched_debits(charge) if -entry.amount in its), None)
        if debit:
            settle_with_entry(charge, debit, stage.token.owner_id)
        else:
            write_off_charge(charge, stage.token.owner_id, "It is not among the videos.")
        ended.append(f"{told}: {charge.state}")
    return ended, stuck


def unexplained_credits(charge: Charge, theirs: list[Decimal]) -> Counter[Decimal]:
    """What was taken where it went and is no settled charge's cost."""
    settled = Charge.objects.of_upstream_account(charge.account_id).filter(state__in=CHARGED_STATES)
    ours = [
        one.cost
        for one in settled.select_related("job")
        if charge_target(one) == charge_target(charge)
    ]
    return Counter(filter(None, theirs)) - Counter(filter(None, ours))
