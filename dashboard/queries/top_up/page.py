"""The whole page of an account's top-up: what is known, what came, who changed what."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from dashboard.models import Team
from dashboard.queries.accounts import AccountTab, tabs_of
from dashboard.queries.top_up.arrivals import Arrival, arrivals_of
from dashboard.queries.top_up.facts import Facts
from dashboard.queries.top_up.history import Change, history_of
from dashboard.queries.top_up.packs import Pack, packs_kept

NOTE = (
    "A setting of the shared account. Treasurers and the owner may change it; "
    "every change is recorded."
)


@dataclass(frozen=True, slots=True)
class TopUpPage:
    account_id: UUID
    name: str
    note: str
    tabs: tuple[AccountTab, ...]
    packs: tuple[Pack, ...]
    arrivals: tuple[Arrival, ...]
    history: tuple[Change, ...]


def page_of(facts: Facts, team: Team) -> TopUpPage:
    """One query."""
    return TopUpPage(
        account_id=facts.account.pk,
        name=facts.account.label,
        note=NOTE,
        tabs=tabs_of("top-up", facts.accounts, facts.account),
        packs=packs_kept(facts),
        arrivals=arrivals_of(facts),
        history=history_of(team, facts),
    )
