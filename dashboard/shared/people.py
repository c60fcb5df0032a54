"""The people of a team, for filters and charts."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.functions import JSONObject

from dashboard.models import Label, Membership, Team, User
from dashboard.models.label import JsonList
from proxyapi.models import Token


class TeamPerson(NamedTuple):
    """Plain values: loading hundreds of models would be half of a page's database time."""

    id: int
    name: str

    @property
    def first_name(self) -> str:
        """Like `User.first_name`, for a name that may be an e-mail address."""
        return self.name.split()[0].partition("@")[0]


def load_team_people(team: Team) -> tuple[TeamPerson, ...]:
    """Return the members in the order of joining, then former members who had a token. One
    query."""
    rows = team_users(team).values_list("pk", "name", "email")
    return tuple(TeamPerson(pk, name if name.strip() else email) for pk, name, email in rows)


def load_people_and_labels(reader: Membership) -> tuple[tuple[TeamPerson, ...], dict[str, str]]:
    """Return the people as `load_team_people`, and the names of the team's labels by id. One query:
    the labels are a column of the reader's own row."""
    names = JsonList(JSONObject(id="id", name="name", key="key"))
    labels = Label.objects.filter(team=reader.team_id).order_by().values("team")
    column = When(pk=reader.user_id, then=Subquery(labels.annotate(names=names).values("names")))
    users = team_users(reader.team).annotate(label_names=Case(column))
    rows = list(users.values_list("pk", "name", "email", "label_names"))
    people = (TeamPerson(pk, name if name.strip() else email) for pk, name, email, _ in rows)
    found: list[dict[str, str]] = next((labels for *_, labels in rows if labels), [])
    found.sort(key=lambda label: label["key"])
    return tuple(people), {str(UUID(label["id"])): label["name"] for label in found}


def team_users(team: Team) -> QuerySet[User]:
    members = Membership.with_deactivated.filter(team=team)
    member = members.filter(user=OuterRef("pk"))
    had_token = Token.objects.filter(tenant=team.tenant_id).values("owner")
    users = User.objects.filter(Q(pk__in=members.values("user")) | Q(pk__in=had_token))
    users = users.annotate(
        member_since=Subquery(member.values("joined_at")), membership=Subquery(member.values("pk"))
    )
    return users.order_by(F("member_since").asc(nulls_last=True), "membership", "pk")
