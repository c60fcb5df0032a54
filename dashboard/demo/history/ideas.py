"""Searches for ideas in the demo's past, and a draft that one of the ideas became."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from dashboard.demo.history.plan import PAST_DAYS
from dashboard.demo.history.replay import Call, ReplayAnswer, build_call
from dashboard.models import Membership
from dashboard.studio.idea_actions import start_idea_drafts
from proxyapi.ideas import parse_ideas, store_ideas
from proxyapi.models import Account, Charge, ChargeState, Draft, Job, Token
from proxyapi.operations import IDEA_SEARCH_OPERATION, get_operation

SEARCH_DURATION = timedelta(seconds=34)  # from the sending of a search to its answer
DRAFT_DELAY = timedelta(minutes=12)  # from the last search to the draft


class PastSearch(NamedTuple):
    """`at`: after the first day began."""

    at: timedelta
    member: str  # first name
    keyword: str
    network: str

    @property
    def name(self) -> str:
        return f"search {self.keyword}"

    @property
    def body(self) -> dict[str, str]:
        return {"keyword": self.keyword, "network": self.network}


SEARCHES = (
    PastSearch(timedelta(days=PAST_DAYS - 25, hours=3), "Priya", "night trains", "youtube"),
    PastSearch(timedelta(days=PAST_DAYS - 6, hours=4), "Luca", "tide pools", "tiktok"),
)


def search_calls(opened_at: datetime, token_of: Mapping[str, str]) -> Iterator[Call]:
    path = f"/v2{get_operation(IDEA_SEARCH_OPERATION).path}"
    for search in SEARCHES:
        at, token = opened_at + search.at, token_of[search.member]
        yield build_call(at, "POST", path, name=search.name, body=search.body, token=token)


def store_searches(
    account: Account,
    answers: Mapping[str, ReplayAnswer],
    members: Mapping[str, Membership],
    tokens: Mapping[str, Token],
) -> None:
    """Store each search with what it found, and make a draft of the best idea of the last one."""
    for search in SEARCHES:
        answer = answers[search.name]
        charge = build_search_charge(account, search, answer, tokens[search.member])
        store_ideas(account, parse_ideas(charge.result, charge.body), charge)
        charge.ideas.update(first_seen_at=charge.settled_at)
    by, at = members[search.member], answer.at + DRAFT_DELAY
    (job,) = start_idea_drafts(by=by, ideas=list(charge.ideas.order_by("rank")[:1]))
    Job.objects.filter(pk=job.pk).update(created_at=at)
    Draft.objects.filter(pk=job.pk).update(edited_at=at)


def build_search_charge(
    account: Account, search: PastSearch, answer: ReplayAnswer, token: Token
) -> Charge:
    cost, answered_at = Decimal(answer.cost), answer.at + SEARCH_DURATION
    times = dict.fromkeys(("created_at", "held_at", "due_at", "sent_at", "heartbeat_at"), answer.at)
    return Charge.objects.create(
        tenant_id=account.tenant_id,
        account=account,
        token=token,
        member_id=token.owner_id,
        operation=IDEA_SEARCH_OPERATION,
        body=search.body,
        nonce=uuid.uuid4(),
        state=ChargeState.CONFIRMED,
        quote=cost,
        hold=cost,
        cost=cost,
        attempts=1,
        status=answer.status,
        applied_at=answered_at,
        settled_at=answered_at,
        result=answer.body["data"],
        **times,
    )
