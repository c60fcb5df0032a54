"""The card of the second-person rule on the budgets page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dashboard.models import Membership, Role
from dashboard.shared.access import has_permission
from dashboard.shared.formatting import credits
from dashboard.shared.roles import Permission
from dashboard.shared.second_person import MIN_APPROVERS

NO_RULE_TEXT = "No charge needs a second person. Budgets alone decide what is sent."
RULE_TEXT = "A charge above {above} cr waits until another person approves it. {names} can approve."
TOO_FEW_TEXT = (
    "The rule needs two people who can approve, because nobody approves their own request. Make "
    "another member treasurer or owner first."
)
ALONE_TEXT = (
    "Only {name} can approve now. What {name} requests above {above} cr waits until another member "
    "is treasurer or owner, or the rule is removed."
)


@dataclass(frozen=True, slots=True)
class SecondPersonCard:
    """`is_shown` is False if there is nothing to tell the reader; `act_label` is empty if they may
    not change the rule, or the team has too few approvers to set one."""

    above: Decimal | None
    text: str
    warning: str
    act_label: str
    is_shown: bool


def build_second_person_card(reader: Membership, members: Sequence[Membership]) -> SecondPersonCard:
    """`members` are all of the team. No query."""
    above = reader.team.second_person_above
    may_edit = has_permission(reader, Permission.MANAGE_MONEY)
    managers = [member for member in members if has_permission(member, Permission.MANAGE_MONEY)]
    managers.sort(key=lambda manager: manager.role == Role.OWNER)
    names = [manager.user.first_name for manager in managers if manager.user.is_active]
    has_approvers = len(names) >= MIN_APPROVERS
    if above is None:
        text = NO_RULE_TEXT if has_approvers else TOO_FEW_TEXT
        label = "Require a second person" if may_edit and has_approvers else ""
        return SecondPersonCard(None, text, "", label, is_shown=may_edit)
    amount = credits(above)
    warning = "" if has_approvers else ALONE_TEXT.format(name=names[0], above=amount)
    return SecondPersonCard(
        above=above,
        text=RULE_TEXT.format(above=amount, names=" or ".join(names)),
        warning=warning,
        act_label="Change rule" if may_edit else "",
        is_shown=True,
    )
