"""Asks that wait for a word, as those who may give it see them, and as the asker does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from math import ceil
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from dashboard.access import can
from dashboard.caps import Standing, above, named, standings, tightest
from dashboard.models import Ask, Budget, Membership
from dashboard.queries.address import job_url
from dashboard.queries.budgets.line import note_of
from dashboard.queries.purse import lacking
from dashboard.queries.videos.words import deed
from dashboard.roles import Permission
from dashboard.templatetags.reelroom import credits
from proxyapi.models import Account, Charge

NOTHING = Decimal(0)
DEEDS = {"render": "render", "retry": "retry", "script": "have a script written for"}


@dataclass(frozen=True, slots=True)
class Waiting:
    """One ask. `mine`: the reader asked, and may take it back; `may_decide`: the buttons."""

    id: UUID
    who: str
    amount: Decimal
    line: str
    note: str
    asked_at: datetime
    url: str
    mine: bool
    may_decide: bool


@dataclass(frozen=True, slots=True)
class Bound:
    """What is left of a budget before an approval, and how far above it goes."""

    label: str
    left: Decimal
    over: Decimal


@dataclass(frozen=True, slots=True)
class Answer:
    """The question before an approval. `budgets`: all that it goes above, else the tightest;
    `raised` is the least limit that it would fit under, where only one is in the way; `drawn`
    names those that are."""

    id: UUID
    who: str
    title: str
    quote: Decimal | None
    amount: Decimal
    free: Decimal
    note: str
    budgets: tuple[Bound, ...]
    raised: int | None
    drawn: str

    @property
    def unmet(self) -> tuple[str, ...]:
        """Why it cannot be sent now; no button then."""
        return tuple(filter(None, [lacking(self.free, self.amount)]))


def waiting_of(reader: Membership) -> tuple[Waiting, ...]:
    """The oldest first; of those who may not decide, only their own. At most six queries."""
    asks = with_all(reader.team.asks.waiting())
    decides = can(reader, Permission.MANAGE_MONEY)
    if not decides:
        asks = asks.filter(member=reader.user_id)
    found = list(asks)
    short = shortest(reader, found)
    return tuple(waiting(ask, reader, short.get(ask.member_id), decides=decides) for ask in found)


def with_all(asks: QuerySet[Ask]) -> QuerySet[Ask]:
    return asks.select_related("member", "charge__job")


def shortest(reader: Membership, asks: Sequence[Ask]) -> dict[int, Standing]:
    """By asker, the budget with the least left."""
    if not asks:
        return {}
    found = bounds(reader)
    return {
        who: short
        for who in {ask.member_id for ask in asks}
        if (short := tightest(binding(found, who)))
    }


def bounds(reader: Membership) -> list[Standing]:
    """All budgets of the team with a hard limit."""
    budgets = Budget.objects.filter(team=reader.team, active=True).exclude(hard=None)
    return standings(reader.team, budgets, timezone.now())


def binding(found: Iterable[Standing], who: int) -> list[Standing]:
    return [one for one in found if one.budget.member_id in (None, who)]


def waiting(ask: Ask, reader: Membership, short: Standing | None, *, decides: bool) -> Waiting:
    mine = ask.member_id == reader.user_id
    left = f" {sentence(short, mine=mine)}" if short else ""
    return Waiting(
        id=ask.pk,
        who="You" if mine else ask.member.first_name,
        amount=ask.charge.hold,
        line=f"To {what(ask.charge)}.{left}",
        note=ask.note,
        asked_at=ask.asked_at,
        url=job_url(ask.charge.job),
        mine=mine,
        may_decide=decides,
    )


def what(charge: Charge) -> str:
    """ "render “Who owns the Moon?”"."""
    done = DEEDS.get(deed(charge.operation), "make a request")
    return f"{done} “{charge.job.title}”" if charge.job else done


def sentence(short: Standing, *, mine: bool) -> str:
    """ "61 of 2,500 are left until 1 Dec"; the reader of a colleague's ask is not "you"."""
    text = note_of(short) if mine else note_of(short).replace("of your", "of the")
    return f"{text.replace(' left ', ' are left ')}."


def answer_of(ask: Ask) -> Answer:
    """What the one who decides reads before it is sent. At most five queries."""
    asker = Membership.objects.filter(team=ask.team_id, user=ask.member_id).first()
    found = binding(bounds(asker), ask.member_id) if asker else []
    hold, account = ask.charge.hold, Account.objects.get(pk=ask.charge.account_id)
    over, short = above(found, hold), tightest(found)
    shown = over or ([short] if short else [])
    return Answer(
        id=ask.pk,
        who=ask.member.first_name,
        title=what(ask.charge),
        quote=ask.charge.quote,
        amount=hold,
        free=account.available_balance(),
        note=ask.note,
        budgets=tuple(bound(ask, standing) for standing in shown),
        raised=ceil(over[0].taken + hold) if len(over) == 1 else None,
        drawn=named(over),
    )


def bound(ask: Ask, standing: Standing) -> Bound:
    whose = f"{ask.member.first_name}’s" if standing.budget.member_id else "the team’s"
    hard, left = credits(standing.budget.hard), standing.left or NOTHING
    return Bound(
        label=f"Left of {whose} {hard} until {standing.until}",
        left=left,
        over=max(ask.charge.hold - left, NOTHING),
    )
