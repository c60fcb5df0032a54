"""Who of the team has a second factor, and what requiring one does to the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max

from dashboard.models import AlertEvent, Membership, SignInEvent, SignInOutcome
from dashboard.shared.formatting import clock, join_names
from dashboard.shared.second_factor import SecondFactor, load_second_factors
from dashboard.shared.team_security import (
    TWO_FACTOR_NOTICE_TITLE,
    TWO_FACTOR_SETUP_URL,
    find_team_security,
)

MAX_NAMES_IN_SENTENCE = 6
ONLY_SET_UP = "can only set it up, before they see anything of the team."
KEYS_GO_ON = "API keys are not affected."


@dataclass(frozen=True, slots=True)
class UnprotectedMember:
    """A member without a second factor. `reminded`: when they were last asked; "" if never."""

    id: int
    name: str
    initials: str
    note: str
    reminded: str
    is_me: bool


@dataclass(frozen=True, slots=True)
class TwoFactorCard:
    """`sentence`: what the switch does to whom. `may_switch_on`: the reader has a second factor."""

    is_required: bool
    total: int
    lacking: tuple[UnprotectedMember, ...]
    sentence: str
    may_switch_on: bool
    set_up_url: str = TWO_FACTOR_SETUP_URL

    @property
    def may_switch(self) -> bool:
        return self.is_required or self.may_switch_on

    @property
    def count_text(self) -> str:
        having = self.total - len(self.lacking)
        if self.total == 1:
            return "on" if having else "off"
        if having == self.total:
            return "every member has it on"
        return f"{having or 'none'} of {self.total} members have it on"


def load_two_factor_card(reader: Membership) -> TwoFactorCard:
    """Four queries."""
    members = list(reader.team.memberships.select_related("user"))
    factors = load_second_factors(row.user_id for row in members)
    lacking = [row for row in members if factors[row.user_id] == SecondFactor.OFF]
    security = find_team_security(reader.team)
    return TwoFactorCard(
        is_required=security.require_two_factor,
        total=len(members),
        lacking=build_unprotected_members(reader, lacking),
        sentence=requirement_sentence(
            [row.user.first_name for row in lacking], security.two_factor_required_at
        ),
        may_switch_on=factors[reader.user_id] != SecondFactor.OFF,
    )


def build_unprotected_members(
    reader: Membership, members: Sequence[Membership]
) -> tuple[UnprotectedMember, ...]:
    users = [row.user_id for row in members]
    sign_ins = SignInEvent.objects.filter(user__in=users, outcome=SignInOutcome.SIGNED_IN)
    last = dict(sign_ins.values_list("user").annotate(at=Max("happened_at")).order_by())
    notices = AlertEvent.objects.filter(
        team=reader.team, member__in=users, title=TWO_FACTOR_NOTICE_TITLE
    )
    asked = dict(notices.values_list("member").annotate(at=Max("happened_at")).order_by())
    return tuple(
        UnprotectedMember(
            id=row.pk,
            name=str(row.user),
            initials=row.user.initials,
            note=f"{row.get_role_display()}, {last_sign_in_text(last.get(row.user_id))}",
            reminded=clock(asked.get(row.user_id)),
            is_me=row.pk == reader.pk,
        )
        for row in members
    )


def last_sign_in_text(at: datetime | None) -> str:
    return f"last sign-in {clock(at)}" if at else "no sign-in recorded"


def requirement_sentence(names: Sequence[str], required_at: datetime | None) -> str:
    """Return what happens to whom, or has happened since it is required."""
    people, is_one = join_names(names, most=MAX_NAMES_IN_SENTENCE), len(names) == 1
    state = f"Required since {clock(required_at)}." if required_at else "Every member has it."
    if not names:
        return f"{state} Who joins sets it up before they see anything of the team."
    if required_at:
        lack = "lacks" if is_one else "lack"
        return f"{state} {people} {lack} it, and see nothing of the team until they set it up."
    get = "gets" if is_one else "get"
    return f"{people} {get} an e-mail, and from the next click on {ONLY_SET_UP} {KEYS_GO_ON}"
