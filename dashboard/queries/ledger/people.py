"""The people of a team as filters and charts name them."""

from __future__ import annotations

from typing import NamedTuple

from dashboard.models import Team


class Person(NamedTuple):
    """Plain values: hundreds of models would be half of what a page asks the database for."""

    id: int
    name: str

    @property
    def first_name(self) -> str:
        """As `User.first_name`, for a name that may be an e-mail address."""
        return self.name.split()[0].partition("@")[0]


def people_of(team: Team) -> tuple[Person, ...]:
    """One query: everybody in the order of joining."""
    rows = team.memberships.values_list("user_id", "user__name", "user__email")
    return tuple(Person(pk, name if name.strip() else email) for pk, name, email in rows)
