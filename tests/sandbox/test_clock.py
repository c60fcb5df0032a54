"""The clock's ends: where instants could not be told as dates any more."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("now", ["9999-12-31T23:59:00Z", "9000-01-01T00:00:01Z", "0001-01-01"])
def test_the_clock_is_not_set_to_where_dates_end(sandbox, now):
    before = sandbox.get("/_sandbox/clock").json()
    answer = sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": now})
    assert (answer.status_code, sandbox.get("/_sandbox/clock").json()) == (422, before)


def test_the_clock_is_not_put_forward_to_where_dates_end(sandbox):
    sandbox.put("/_sandbox/clock", {"mode": "frozen", "now": "8999-12-31T23:59:00Z"})
    before = sandbox.get("/_sandbox/clock").json()
    answer = sandbox.post("/_sandbox/clock/advance", {"seconds": 1e8})
    assert (answer.status_code, sandbox.get("/_sandbox/clock").json()) == (422, before)
    sandbox.advance(30)
    assert sandbox.draft()
    assert sandbox.get("/v2/me").status_code == 200
