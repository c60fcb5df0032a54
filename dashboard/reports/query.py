"""The parameters of a report: a time range, filters, and one page of rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.utils import timezone

from dashboard.models import Label, Membership
from dashboard.models.email_address import parse_address
from dashboard.models.label import label_key
from dashboard.shared.people import team_users
from dashboard.shared.query_params import MAX_QUOTED_CHARS, parse_small_int, parse_uuid
from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.models import ApiKey

Row = TypeVar("Row", bound=Model)
DEFAULT_DAYS, DEFAULT_LIMIT, MAX_LIMIT = 30, 50, 500
PAGE_PARAMS, TIME_PARAMS = frozenset({"limit", "cursor"}), frozenset({"from", "to"})
FIRST_TIME, LAST_TIME = datetime(2000, 1, 2, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)
UNKNOWN_PARAM = "This report has no parameter “{name}”. It takes {known}."
BAD_VALUE = "“{value}” is not a valid {name}."
NOT_FOUND = "This team has no {name} “{value}”."
ENDS_BEFORE = "“to” must be later than “from”."


@dataclass(frozen=True, slots=True)
class ReportQuery:
    """`since` is included, `until` is not; both are UTC. `cursor` is as the page before gave it."""

    since: datetime
    until: datetime
    limit: int
    cursor: str
    person: int | None
    key: ApiKey | None
    label: Label | None


def parse_query(by: Membership, query: Mapping[str, str], known: Collection[str]) -> ReportQuery:
    """Read the parameters of a report that takes `known` beside limit and cursor. Raises
    `GatewayRefusal` (400) for a parameter or value that it does not take."""
    names = PAGE_PARAMS | set(known)
    if unknown := set(query) - names:
        name, listed = sorted(unknown)[0][:MAX_QUOTED_CHARS], ", ".join(sorted(names))
        raise wrong(UNKNOWN_PARAM.format(name=name, known=listed))
    until = parse_time(query, "to") or timezone.now()
    since = parse_time(query, "from") or max(FIRST_TIME, until - timedelta(days=DEFAULT_DAYS))
    if since >= until:
        raise wrong(ENDS_BEFORE)
    return ReportQuery(
        since=since,
        until=until,
        limit=parse_limit(query.get("limit", str(DEFAULT_LIMIT))),
        cursor=query.get("cursor", ""),
        person=find_person(by, query["person"]) if "person" in query else None,
        key=find_key(by, query["key"]) if "key" in query else None,
        label=find_label(by, query["label"]) if "label" in query else None,
    )


def parse_time(query: Mapping[str, str], name: str) -> datetime | None:
    """A day or a time as ISO 8601; UTC unless it has an offset."""
    if name not in query:
        return None
    try:
        at = datetime.fromisoformat(query[name])
        at = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise bad_value("time, such as 2026-11-01 or 2026-11-01T08:30:00Z", query[name]) from None
    if not FIRST_TIME <= at <= LAST_TIME:
        raise bad_value("time of a ledger", query[name])
    return at


def parse_limit(text: str) -> int:
    limit = parse_small_int(text)
    if limit is None or not 1 <= limit <= MAX_LIMIT:
        raise bad_value(f"limit: a whole number from 1 to {MAX_LIMIT}", text)
    return limit


def find_person(by: Membership, text: str) -> int:
    """The id of a present or former member, given by it or by an e-mail address."""
    number = parse_small_int(text)
    person = {"email": parse_address(text)} if number is None else {"pk": number}
    return find_row(team_users(by.team), "person", text, **person).pk


def find_key(by: Membership, text: str) -> ApiKey:
    """An API key of the team by its id or its readable beginning, also a revoked one."""
    keys, pk = ApiKey.objects.filter(tenant=by.team.tenant_id).exclude(prefix=""), parse_uuid(text)
    return find_row(keys, "API key", text, **({"pk": pk} if pk else {"prefix": text}))


def find_label(by: Membership, text: str) -> Label:
    """A label by its id or its name."""
    pk = parse_uuid(text)
    label = {"pk": pk} if pk else {"key": label_key(text)}
    return find_row(Label.objects.filter(team=by.team), "label", text, **label)


def find_row(rows: QuerySet[Row], name: str, text: str, **conditions: Any) -> Row:
    row = None if "\0" in text else rows.filter(**conditions).first()
    if row is None:
        raise wrong(NOT_FOUND.format(name=name, value=text[:MAX_QUOTED_CHARS]))
    return row


def bad_value(name: str, value: str) -> GatewayRefusal:
    return wrong(BAD_VALUE.format(name=name, value=value[:MAX_QUOTED_CHARS]))


def wrong(message: str) -> GatewayRefusal:
    return GatewayRefusal(400, "GEN-WRONG-ARGS", message)
