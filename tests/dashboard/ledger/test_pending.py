"""Charges that the ledger does not show yet stand above it, and count nowhere."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.ledger.queries import pending
from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_entries_section, load_ledger_page
from proxyapi.models import Charge, ChargeState
from tests.dashboard.ledger.conftest import days_ago
from tests.dashboard.ledger.test_csv_export import export_rows
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql


def page(reader, **query) -> dict[str, Any]:
    return load_ledger_page(
        reader, parse_ledger_filters({name: str(value) for name, value in query.items()})
    )


def words(reader, **query) -> list[str]:
    return [row["word"] for row in page(reader, **query)["entries"]["pending"].rows]


@pytest.fixture
def charge(account, token):
    def make(state: str = ChargeState.HELD, **fields: Any) -> Charge:
        given: dict[str, Any] = {"token": token, "account": account}
        job = fields.pop("job", None) or JobFactory.create(**given, title="Night trains")
        if state not in (ChargeState.HELD, ChargeState.DRAFT):
            given["sent_at"] = days_ago(minutes=9)
        if state in (ChargeState.CONFIRMED, ChargeState.MATCHED):
            given |= {"cost": Decimal(96), "settled_at": days_ago(minutes=1)}
        return ChargeFactory.create(**{**given, "job": job, "state": state, **fields})

    return make


@pytest.mark.parametrize(
    ("state", "row"),
    [
        ("held", ("waiting", "Waiting", "not sent yet", 106, "held")),
        ("sending", ("running", "Sending", "no response yet", 106, "held")),
        ("unknown", ("unknown", "Unknown", "response lost", 96, "unknown")),
        ("confirmed", ("waiting", "Charged", "not in the ledger yet", -96, "out")),
        ("matched", ("waiting", "Charged", "not in the ledger yet", -96, "out")),
    ],
)
def test_a_charge_without_an_entry_is_shown_as_it_is(state, row, charge, thea):
    charge(state)
    (one,) = page(thea)["entries"]["pending"].rows
    assert (one["state"], one["word"], one["note"], one["amount"].value, one["amount"].kind) == row
    assert (one["what"], str(one["charge"].member), one["charge"].job.title) == (
        "Render",
        "Priya Raman",
        "Night trains",
    )


@pytest.mark.parametrize("state", ["draft", "refused"])
def test_what_will_take_nothing_is_not_shown(state, charge, thea):
    charge(state)
    charge("confirmed", cost=Decimal(0))
    assert words(thea) == []


def test_what_is_not_booked_for_long_is_marked(charge, thea):
    charge("confirmed", settled_at=days_ago(minutes=12))
    (one,) = page(thea)["entries"]["pending"].rows
    assert (one["state"], one["note"]) == ("late", "not in the ledger since 11:48")


def test_a_charge_that_was_booked_is_an_entry(add_entry, thea):
    add_entry()
    assert words(thea) == []


def test_it_counts_neither_in_the_sums_nor_in_the_file(charge, add_entry, thea, client_of):
    add_entry("-14")
    charge("unknown")
    shown = page(thea)
    assert (shown["totals"]["figures"].net, shown["list"].total) == (-14, 1)
    assert [row["credit_spend"] for row in export_rows(thea)] == ["-14"]
    html = client_of(thea).get("/ledger/").content.decode()
    assert "Not in the ledger yet (not in totals)" in html
    assert "0 or 96" in html


def test_alone_it_is_a_page_too(charge, thea, client_of):
    charge()
    html = client_of(thea).get("/ledger/").content.decode()
    assert "Night trains" in html
    assert "No entries in these days" not in html


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ({"feature": "faceless.render"}, True),
        ({"feature": "faceless.export"}, False),
        ({"match": "yes"}, True),
        ({"match": "no"}, False),
        ({"direction": "out"}, True),
        ({"direction": "in"}, False),
        ({"source": "web"}, False),
        ({"content_type": "faceless"}, False),
        ({"q": "night"}, False),
        ({"sort": "oldest"}, False),
        ({"period": "2026-11"}, True),
        ({"period": "2026-10"}, False),
        ({"period": "2026-11-20"}, True),
    ],
)
def test_filters_leave_it_or_not(query, shown, charge, thea):
    charge()
    assert bool(words(thea, **query)) == shown


def test_member_video_and_account_are_filters_too(charge, thea, luca, priya, account):
    one = charge()
    other = TokenFactory.create(account=AccountFactory(tenant=thea.team.tenant), owner=luca.user)
    charge(token=other, account=other.account, job=JobFactory(token=other, account=other.account))
    assert len(words(thea)) == 2
    for query in ({"member": priya.user_id}, {"job": one.job_id}, {"account": account.pk}):
        assert len(words(thea, **query)) == 1


def test_of_very_many_only_the_newest_are_listed(charge, thea, monkeypatch):
    monkeypatch.setattr(pending, "MAX_PENDING_CHARGES", 2)
    for minutes in (3, 2, 1):
        charge("unknown", sent_at=days_ago(minutes=minutes))
    shown = page(thea)["entries"]["pending"]
    assert [row["when"] for row in shown.rows] == ["11:59", "11:58"]
    assert shown.count_text == "the newest 2 charges"


def test_strangers_see_none_of_it(charge, otto):
    charge()
    assert words(otto) == []


def test_it_refetches_when_a_charge_changes(charge, thea, client_of):
    browser = client_of(thea)
    html = browser.get("/ledger/?part=entries").content.decode()
    assert "reelroom:charge from:body" in html
    charge()
    with CaptureQueriesContext(connection) as asked:
        assert len(load_entries_section(thea, parse_ledger_filters({}), 0)["pending"].rows) == 1
    assert len(asked) <= 5
