"""The calls of a day, summed by quarter of an hour."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from proxyapi.models import ApiCall, ServiceQuarter, Token
from proxyapi.service_quarters import QUARTER, quarter_start, update_service_quarters
from tests.factories import TokenFactory

pytestmark = pytest.mark.postgresql

NOW = datetime(2026, 11, 23, 13, 7, 20, tzinfo=UTC)


@pytest.fixture
def token(db: None) -> Token:
    return TokenFactory.create()


def add_call(
    token: Token,
    *,
    minutes_ago: float = 1,
    status: int | None = 200,
    code: str = "",
    ms: int = 200,
    operation: str = "me.get",
) -> None:
    ApiCall.objects.create(
        tenant_id=token.tenant_id,
        token=token,
        operation=operation,
        outcome="answered" if status else "unknown",
        status=status,
        code=code,
        milliseconds=ms,
        sent_at=NOW - timedelta(minutes=minutes_ago),
    )


def test_a_quarter_begins_on_the_quarter_of_an_hour() -> None:
    assert quarter_start(NOW) == datetime(2026, 11, 23, 13, 0, tzinfo=UTC)


def test_calls_are_counted_by_whether_they_were_answered(token: Token) -> None:
    for ms in (100, 300, 800):
        add_call(token, ms=ms)
    add_call(token, status=422, code="VALIDATION", ms=200)
    add_call(token, status=503, code="GEN-UNAVAILABLE", ms=5000)
    add_call(token, status=None, ms=9000)
    update_service_quarters(NOW)
    quarter = ServiceQuarter.objects.get()
    assert (quarter.answered, quarter.unanswered, quarter.median_ms) == (4, 2, 250)
    assert quarter.codes == {"VALIDATION": 1, "GEN-UNAVAILABLE": 1, "NO-ANSWER": 1}


def test_what_takes_long_by_nature_is_not_in_the_median(token: Token) -> None:
    add_call(token, ms=200)
    add_call(token, ms=90_000, operation="ideas.discover")
    update_service_quarters(NOW)
    assert ServiceQuarter.objects.get().median_ms == 200


def test_a_quarter_is_counted_anew_and_never_twice(token: Token) -> None:
    add_call(token, minutes_ago=10)
    update_service_quarters(NOW)
    add_call(token, minutes_ago=9)
    update_service_quarters(NOW)
    quarter = ServiceQuarter.objects.get()
    assert (quarter.starts_at, quarter.answered) == (quarter_start(NOW) - QUARTER, 2)


def test_a_quarter_without_calls_has_no_row(token: Token) -> None:
    update_service_quarters(NOW)
    assert not ServiceQuarter.objects.exists()


def test_teams_are_counted_apart_and_old_quarters_deleted(token: Token) -> None:
    other = TokenFactory.create()
    old = NOW - timedelta(days=9)
    ServiceQuarter.objects.create(tenant=token.tenant, starts_at=old, answered=1, unanswered=0)
    add_call(token)
    add_call(other)
    update_service_quarters(NOW)
    assert set(ServiceQuarter.objects.values_list("tenant", "answered")) == {
        (token.tenant_id, 1),
        (other.tenant_id, 1),
    }
