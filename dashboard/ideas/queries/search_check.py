"""What is known before a search, beside its button: what the team owns already, whether the same
words were searched lately, and whether the search can be sent. Nothing is asked of the service."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.utils import timezone

from dashboard.ideas.queries.filters import IdeaFilters, team_ideas
from dashboard.ideas.queries.searches import is_running, search_words, team_searches
from dashboard.models import Membership
from dashboard.shared.budget_impact import build_budget_impact
from dashboard.shared.formatting import clock
from dashboard.shared.member_token import require_member_token
from dashboard.shared.team_balance import credit_shortfall_text
from dashboard.shared.videos.charge_status import SETTLEMENT_DEADLINE
from dashboard.shared.videos.status_text import NO_TRIALS_TEXT
from proxyapi import pricing
from proxyapi.models import AccountPlan, Charge, ChargeState, TokenState
from proxyapi.operations import IDEA_SEARCH_OPERATION
from proxyapi.refusals import NOTHING_TO_PAY, CreditCheck, TokenRefused

REPEATED_WITHIN = timedelta(hours=24)
LAPSED_TEXT = "The plan has lapsed. You can search again when it is paid."
NO_PRICE = "The service’s price list has no price for a search."
SEARCH_RUNS = "This search is running. Its ideas appear beside."
SEARCH_WAITS = "This search waits to be sent."
WAIT_FOR_LEDGER = "Wait for the ledger, at the latest by {until}, or look at what you own."


@dataclass(frozen=True, slots=True)
class SearchCheck:
    """`problem`: why Search is disabled; `over_budget`: why only an approval can be requested."""

    keyword: str
    price: Decimal | None
    owned: int = 0
    owned_url: str = ""
    repeated: str = ""
    refused: str = ""  # the service's sentence about the same network, the last time
    problem: str = ""
    over_budget: str = ""
    needs_token: bool = False
    credit_check: CreditCheck = NOTHING_TO_PAY

    @property
    def needs_approval(self) -> bool:
        return bool(self.over_budget)

    @property
    def is_beyond_balance(self) -> bool:
        return not self.problem and self.credit_check.is_beyond_balance

    @property
    def state(self) -> str:
        is_late = self.problem or self.over_budget or self.is_beyond_balance
        return "late" if is_late else "completed" if self.owned else ""

    @property
    def owned_text(self) -> str:
        plural = "" if self.owned == 1 else "s"
        return f"{self.owned:,} idea{plural} for “{self.keyword}”"


def load_search_check(reader: Membership, keyword: str = "", network: str = "") -> SearchCheck:
    """Without a keyword one query, for the price; with one at most ten."""
    try:
        token = require_member_token(reader)
    except TokenRefused as refused:
        return SearchCheck(keyword, None, problem=refused.sentence, needs_token=True)
    price = pricing.fixed_price(token.account, IDEA_SEARCH_OPERATION)
    if token.state != TokenState.WORKING:
        is_trial = token.account.plan == AccountPlan.TRIAL
        return SearchCheck(keyword, price, problem=NO_TRIALS_TEXT if is_trial else LAPSED_TEXT)
    if not keyword:
        return SearchCheck(keyword, price)
    same = [
        search
        for search in team_searches(reader)
        if search.account_id == token.account_id
        and [word.casefold() for word in search_words(search)]
        == [keyword.casefold(), network.casefold()]
    ]
    hold = Decimal(0) if price is None else pricing.hold_for_operation(IDEA_SEARCH_OPERATION, price)
    check = token.account.check_credits(hold)
    shortfall = f"Not enough credits: {text}." if (text := credit_shortfall_text(check)) else ""
    problem = open_search_problem(same) or (NO_PRICE if price is None else shortfall)
    impact = build_budget_impact(reader, price) if price is not None and not problem else None
    return SearchCheck(
        keyword=keyword,
        price=price,
        owned=team_ideas(reader).filter(keyword__iexact=keyword).count(),
        owned_url=IdeaFilters(keyword=keyword).url(),
        repeated=repeated_text(same),
        refused=refused_text(same),
        problem=problem,
        over_budget=impact.refusal if impact else "",
        credit_check=check,
    )


def open_search_problem(same: Iterable[Charge]) -> str:
    for search in same:
        if search.state == ChargeState.UNKNOWN:
            until = clock((search.sent_at or search.created_at) + SETTLEMENT_DEADLINE)
            return WAIT_FOR_LEDGER.format(until=until)
        if search.is_open:
            return SEARCH_RUNS if is_running(search) else SEARCH_WAITS
    return ""


def repeated_text(same: Iterable[Charge]) -> str:
    """Return who searched the same words last within a day; empty if nobody did."""
    since = timezone.now() - REPEATED_WITHIN
    for search in same:
        if search.is_charged and search.cost and search.sent_at and search.sent_at > since:
            who = search.member.first_name
            return f"Searched {clock(search.sent_at)} by {who}. Searching again is charged again."
    return ""


def refused_text(same: Iterable[Charge]) -> str:
    """Return why the service refused the same search, if that is the last thing it said."""
    last = next(iter(same), None)
    return last.reason if last and last.status == 422 else ""
