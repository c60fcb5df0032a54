"""Two teams with a token each of one account on the real sandbox, and a round in which both lose
an answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import httpx

from proxyapi import ledger, tokens
from proxyapi.charges import dispatch_charge
from proxyapi.models import Account, Charge, LedgerEntry
from proxyapi.models.charge import CHARGED_STATES
from proxyapi.operations import ExecutionEvidence, get_operation
from proxyapi.rate_limiter import Priority
from proxyapi.upstream.secret import Secret
from proxyapi.upstream.tls import shared_ssl_context
from tests.admission import admit_charge
from tests.factories import TenantFactory, UserFactory
from tests.proxyapi.money.ambiguous_charges import decide_ambiguous
from tests.proxyapi.money.charge_audit import ChargeAudit
from tests.proxyapi.money.operations import INTENT_MAKERS, path_pattern
from tests.proxyapi.money.sandbox_account import FINAL_STATES, SandboxAccount, work_until_settled
from tests.reconciliation import build_reconciliation

# But for the one that is made ready by a preview outside the portal, whose debit may be anybody's.
DRAWN = sorted(set(INTENT_MAKERS) - {"characters.train"})
# A debit alone proves these, so it may be anybody's.
BY_DEBIT = [
    name for name in INTENT_MAKERS if get_operation(name).evidence is ExecutionEvidence.LEDGER
]
LOST = (
    *(("close", "before"), ("reset", "before"), ("close", "after"), ("reset", "after")),
    *(("half_body", "after"), ("malformed_json", "after"), ("drop_meta", "after")),
)


@contextmanager
def add_other_team(stage: SandboxAccount) -> Iterator[SandboxAccount]:
    """Another team adds another token of the account."""
    made = stage.control.post(f"accounts/{stage.account_id}/tokens", json={}).json()
    token = tokens.store_token(TenantFactory(), UserFactory().pk, Secret(made["token"]))
    tokens.refresh_account_profile(token.account)
    token.account.refresh_from_db()
    bearer = {"Authorization": f"Bearer {made['token']}"}
    with httpx.Client(
        base_url=stage.direct.base_url, headers=bearer, verify=shared_ssl_context(), timeout=30
    ) as direct:
        yield SandboxAccount(stage.control, direct, stage.account_id, token)


def play_round(
    teams: tuple[SandboxAccount, SandboxAccount], chance: Random, verdict: ChargeAudit
) -> int:
    """Each team charges once, and one or both answers get lost; what reading cannot tell apart, a
    person decides. Answers how often one did."""
    stage, names = teams[0], [chance.choice(DRAWN) for _ in teams]
    faults = [chance.choice(LOST) if chance.random() < 0.8 else None for _ in teams]
    if chance.random() < 0.25:  # one debit, and nothing tells whose it is
        names, faults = [chance.choice(BY_DEBIT)] * 2, [("close", "before"), ("close", "after")]
    intents = [INTENT_MAKERS[name](team) for name, team in zip(names, teams, strict=True)]
    already, aside = stage.spent_credits(), [team.aside for team in teams]
    charges = [admit_charge(intent) for intent in intents]
    for name, charge, fault in zip(names, charges, faults, strict=True):
        if fault is not None:
            stage.set_fault(path_pattern(name), *fault)
        dispatch_charge(charge.pk)
        charge.refresh_from_db()
        stage.clear_faults()
    for _ in range(2):  # as the beat does: a team's debit is told once its own mirror shows it
        for team, charge in chance.sample(list(zip(teams, charges, strict=True)), 2):
            work_until_settled(charge, 2)
            ledger.mirror_entries(team.token.account, Priority.PERSON, 5)
    assert aside == [team.aside for team in teams]
    ended = 0
    for team in teams:
        ended += len(decide_ambiguous(team)[0])
        for charge in charges:  # what a person ended may decide the other one
            charge.refresh_from_db()
            work_until_settled(charge, 1)
    for charge in charges:
        work_until_settled(charge)  # nothing is left to be told apart
    judge_round(charges, stage.spent_credits() - already, " and ".join(names), verdict)
    return ended


def judge_round(charges: list[Charge], taken: Decimal, what: str, verdict: ChargeAudit) -> None:
    """Of two charges on one account only the sum of what was taken is known."""
    verdict.charges += len(charges)
    ours = sum(
        (charge.cost or Decimal(0) for charge in charges if charge.state in CHARGED_STATES),
        Decimal(),
    )
    states = ", ".join(f"{charge.state} {charge.cost}" for charge in charges)
    told = f"{what}: {states}, the sandbox took {taken}"
    if any(charge.state not in FINAL_STATES for charge in charges):
        verdict.open.append(told)
    elif ours != taken:
        (verdict.false_failed if ours < taken else verdict.unexplained).append(told)


def check_mirrors(teams: tuple[SandboxAccount, SandboxAccount], verdict: ChargeAudit) -> None:
    """Both mirrors show the sandbox's ledger, and each debit in it has one charge at most."""
    books = teams[0].account_money()
    verdict.double += [str(charge) for charge in books["double_charges"]]
    for team in teams:
        account = Account.objects.get(pk=team.token.account_id)
        ledger.mirror_entries(account, Priority.PERSON, 5)
        found = build_reconciliation(account)
        if found.entries_sum != Decimal(str(books["ledger_sum"])) or found.unexplained:
            verdict.unexplained.append(
                f"mirrored {found.entries_sum}, {found.unexplained} without rows"
            )
    verdict.double += find_shared_debits([team.token.account_id for team in teams])


def find_shared_debits(accounts: list[UUID]) -> Iterator[str]:
    """Rows of one second may have another order in each mirror, so equal ones are counted."""
    rows, charges = Counter[tuple[Any, UUID]](), Counter[Any]()
    for entry in LedgerEntry.objects.filter(account__in=accounts, amount__lt=0):
        values = entry.happened_at, entry.amount, entry.content_type
        rows[values, entry.account_id] += 1
        charges[values] += entry.charge_id is not None
    for values, count in charges.items():
        if count > (present := max(rows[values, account] for account in accounts)):
            yield f"{count} charges have {present} debits of {values}"
