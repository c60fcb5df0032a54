"""The page of the audit log: what it shows to whom, its filters, and one entry as a drawer."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from dashboard.audit.queries.action_words import ACTION_TITLES, ACTIONS_BY_GROUP
from dashboard.audit.queries.entry_page import load_entry_page
from dashboard.audit.queries.filters import AuditFilters, apply_audit_filters
from dashboard.audit.queries.page import load_audit_page
from dashboard.models import AuditAction, AuditEvent, Membership
from dashboard.shared.access import audit_entries
from dashboard.shared.audit_log import record_audit_event, system_actor
from proxyapi.models import Charge
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql

Browser = Callable[[Membership], Client]
HTMX = {"HX-Request": "true"}


def page_of(reader: Membership, **query: str) -> dict[str, Any]:
    return load_audit_page(reader, AuditFilters.parse(query))


def rows_of(reader: Membership, **query: str) -> list[dict[str, Any]]:
    return [row for group in page_of(reader, **query)["groups"] for row in group["rows"]]


def titles_of(reader: Membership, **query: str) -> list[str]:
    return [row["title"] for row in rows_of(reader, **query)]


def text_of(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


@pytest.fixture
def entries(mira: Membership, thea: Membership, priya: Membership) -> None:
    after = {"hard": "2500", "soft": "2000"}
    record_audit_event(
        thea,
        AuditAction.BUDGET_CHANGE,
        uuid4(),
        before={"hard": "2000", "soft": "2000"},
        after=after,
        member="Priya Raman",
        period="month",
    )
    record_audit_event(
        mira,
        AuditAction.MEMBER_ROLE,
        priya.user_id,
        before={"role": "viewer"},
        after={"role": "producer"},
    )
    actor = system_actor(mira.team, "manage.py remove_member")
    record_audit_event(actor, AuditAction.MEMBER_REMOVE, 0, before={"name": "Luca Moretti"})
    record_audit_event(mira, AuditAction.WEBHOOK_SET, uuid4(), after={"secret": "whsec_abc"})


def test_entries_are_shown_newest_first_with_their_numbers(entries: None, mira: Membership) -> None:
    rows = rows_of(mira)
    assert [row["event"].position for row in rows] == [4, 3, 2, 1]
    assert [row["title"] for row in rows] == [
        "Set a webhook",
        "Removed a member",
        "Changed a role",
        "Changed a budget",
    ]
    assert [row["thing"] for row in rows[1:]] == [
        "Luca Moretti",
        "Priya Raman",
        "Priya Raman, month",
    ]


def test_a_change_is_told_in_words(entries: None, mira: Membership) -> None:
    webhook, removal, role, budget = (row["change"] for row in rows_of(mira))
    assert budget and (budget.before, budget.after) == ("2,000 cr", "2,500 cr")
    assert role and (role.before, role.after) == ("Viewer", "Producer")
    assert removal and (removal.before, removal.after) == ("Luca Moretti", "")
    assert webhook and (webhook.before, webhook.after) == ("", "set")


def test_a_secret_is_never_on_a_page(entries: None, mira: Membership, client_of: Browser) -> None:
    for url in ("/audit/", "/audit/4/"):
        text = client_of(mira).get(url).content.decode()
        assert "Set a webhook" in text
        assert "whsec_abc" not in re.sub(r"data-copy=\"[^\"]*\"", "", text)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"what": "members"}, [3, 2]),
        ({"what": "money"}, [1]),
        ({"who": "reelroom"}, [3]),
        ({"source": "command"}, [3]),
        ({"q": "priya"}, [2, 1]),
        ({"q": "#4"}, [4]),
        ({"q": "luca"}, [3]),
        ({"what": "nonsense", "who": "nobody", "period": "x", "before": "-1"}, [4, 3, 2, 1]),
        ({"before": "3"}, [2, 1]),
        ({"q": "nothing of this kind"}, []),
    ],
)
def test_filters_are_in_the_url(
    query: dict[str, str], expected: list[int], entries: None, mira: Membership
) -> None:
    assert [row["event"].position for row in rows_of(mira, **query)] == expected


def test_a_person_is_a_filter(entries: None, mira: Membership, thea: Membership) -> None:
    assert [row["event"].position for row in rows_of(mira, who=str(thea.user_id))] == [1]


def test_a_search_finds_videos_by_their_title(mira: Membership) -> None:
    account = AccountFactory.create(tenant=mira.team.tenant)
    token = TokenFactory.create(account=account, owner=mira.user)
    job = JobFactory.create(account=account, token=token, title="Whales in fog")
    record_audit_event(mira, AuditAction.VIDEO_HIDE, job.pk)
    record_audit_event(mira, AuditAction.CHARGE_CREATE, uuid4(), after={"job": str(job.pk)})
    record_audit_event(mira, AuditAction.VIDEO_HIDE, uuid4())
    rows = rows_of(mira, q="whales")
    assert [row["event"].position for row in rows] == [2, 1]
    assert {row["thing"] for row in rows} == {"“Whales in fog”"}


@pytest.mark.parametrize("is_search", [False, True])
def test_a_charge_that_an_entry_names_is_shown_by_its_title(
    is_search: bool, mira: Membership
) -> None:
    account = AccountFactory.create(tenant=mira.team.tenant)
    token = TokenFactory.create(account=account, owner=mira.user)
    job = JobFactory.create(account=account, token=token, title="Whales in fog")
    charge = ChargeFactory.create(job=job, body={"keyword": "lakes"})
    if is_search:
        Charge.objects.update(job=None, operation="ideas.discover")
    title = "“lakes”" if is_search else "“Whales in fog”"
    after = {"charge": str(charge.pk), "hold": "106.0000"}
    record_audit_event(mira, AuditAction.APPROVAL_REQUEST_CREATE, uuid4(), after=after)
    (row,) = rows_of(mira)
    assert row["thing"] == f"106 cr, {title}"
    page = load_entry_page(mira, AuditEvent.objects.get())
    assert ("Charge", title) in [(change.label, change.after) for change in page["changes"]]


def test_a_treasurer_sees_the_entries_about_money_alone(
    entries: None, thea: Membership, client_of: Browser
) -> None:
    page = page_of(thea)
    assert [row["event"].position for group in page["groups"] for row in group["rows"]] == [1]
    assert page["chain"] is None
    assert client_of(thea).get("/audit/1/").status_code == 200
    assert client_of(thea).get("/audit/2/").status_code == 404
    assert "Verify now" not in client_of(thea).get("/audit/").content.decode()


def test_the_navigation_names_the_page_to_those_who_may_read_it(
    mira: Membership, priya: Membership, client_of: Browser
) -> None:
    assert "Audit log" in client_of(mira).get("/members/").content.decode()
    assert "Audit log" not in client_of(priya).get("/members/").content.decode()


def test_an_entry_has_a_drawer_and_a_page_of_its_own(
    entries: None, mira: Membership, client_of: Browser
) -> None:
    event = AuditEvent.objects.get(position=2)
    drawer = client_of(mira).get("/audit/2/", headers=HTMX).content.decode()
    assert drawer.strip().startswith("<dialog")
    assert event.row_hash in drawer and event.previous_hash in drawer
    assert 'href="/audit/3/"' in drawer and 'href="/audit/1/"' in drawer
    whole = client_of(mira).get("/audit/2/").content.decode()
    assert "<h1>Audit log</h1>" in whole and "<dialog" in whole


def test_pages_have_fifty_entries(mira: Membership, client_of: Browser) -> None:
    for number in range(60):
        record_audit_event(mira, AuditAction.LABEL_ADD, number, after={"name": f"Label {number}"})
    first = page_of(mira)
    assert sum(len(group["rows"]) for group in first["groups"]) == 50
    assert first["list"].next_url == "/audit/?before=11"
    assert "60 in the last 30 days, newest first" in text_of(client_of(mira).get("/audit/"))
    second = page_of(mira, before="11")
    assert [row["event"].position for group in second["groups"] for row in group["rows"]] == list(
        range(10, 0, -1)
    )
    assert (second["list"].first_url, second["list"].next_url) == ("/audit/", "")
    assert first["groups"][0]["title"] == "After the last check"


def test_another_team_sees_nothing_of_it(entries: None, otto: Membership) -> None:
    assert rows_of(otto) == []


def test_every_action_has_words_and_one_group() -> None:
    assert set(ACTION_TITLES) == set(AuditAction)
    grouped = [
        action for name, group in ACTIONS_BY_GROUP.items() if name != "refused" for action in group
    ]
    assert set(grouped) | set(ACTIONS_BY_GROUP["refused"]) == set(AuditAction)
    assert len(grouped) == len(set(grouped))


def test_an_empty_log_says_what_will_be_here(mira: Membership, client_of: Browser) -> None:
    text = client_of(mira).get("/audit/").content.decode()
    assert "No entries in this period" in text
    assert "Nothing matches" in client_of(mira).get("/audit/?q=x").content.decode()


def test_a_filtered_page_takes_at_most_twelve_queries(
    entries: None, mira: Membership, client_of: Browser
) -> None:
    browser = client_of(mira)
    browser.get("/audit/")
    with CaptureQueriesContext(
        connection,
    ) as queries:
        answer = browser.get("/audit/?what=members&q=priya&source=portal", headers=HTMX)
    assert answer.status_code == 200
    assert len(queries) <= 12, [query["sql"][:80] for query in queries]


def test_filters_use_an_index(entries: None, mira: Membership) -> None:
    for filters in (
        AuditFilters(),
        AuditFilters(who="1"),
        AuditFilters(source="command", period="all"),
    ):
        matching = apply_audit_filters(audit_entries(mira), filters, mira.team.tenant, ())
        if connection.vendor == "sqlite":
            assert "USING INDEX" in matching.order_by("-position")[:51].explain()
