"""Reports: the figures of the pages, with the rights of the key's owner, page by page."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import time_machine
from django.db import transaction

from dashboard.demo.large_team.build import SeedSize, seed_team
from dashboard.ledger.queries.filters import LedgerFilters
from dashboard.ledger.queries.monthly_report import load_monthly_report
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.ledger.queries.scope import load_ledger_accounts
from dashboard.models import AuditAction, AuditEvent, Budget, Label, Membership, Role
from dashboard.reports.query import parse_query
from dashboard.reports.rows import read_usage
from dashboard.shared.audit_log import record_audit_event
from proxyapi.gateway import document
from proxyapi.models import Account, ApiKey, GatewayRequest, KeyScope, LedgerEntry, Token
from proxyapi.rollups.daily_totals import days_in_account_zone, rebuild_days
from tests.dashboard.ledger.conftest import mark_fully_read, matched
from tests.factories import AccountFactory, EntryFactory, TokenFactory
from tests.proxyapi.gateway.conftest import Script

pytestmark = pytest.mark.postgresql

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
NOVEMBER = {"from": "2026-10-31T23:00:00Z", "to": "2026-11-30T23:00:00Z"}  # in Berlin
REPORTS = {"usage": "Usage", "ledger": "LedgerRow", "budgets": "Budget", "audit": "AuditEntry"}
DOCUMENT = json.loads(Path(document.DOCUMENT_PATH).read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def _noon() -> Iterator[None]:
    with time_machine.travel(NOON):
        yield


@pytest.fixture
def key(priya: Membership) -> ApiKey:
    return ApiKey.objects.create(
        tenant=priya.team.tenant, owner=priya.user, name="weekly", prefix="rr_live_Wk", digest="w"
    )


@pytest.fixture
def entries(token: Token, key: ApiKey, luca: Membership, thea: Membership) -> list[LedgerEntry]:
    """Of Priya, of her key and of Luca, on two accounts: with a refund, an idea search without a
    video, spend outside the portal, a top-up, and a video charged in October."""
    token.tenant.time_zone = "Europe/Berlin"
    token.tenant.save()
    other: Account = AccountFactory(tenant=token.tenant)
    lucas = TokenFactory(account=other, owner=luca.user)
    made = [add(token, "-96"), add(lucas, "-40"), add(token, "-30", key=key)]
    made.append(add(token, "-6", job=None, operation="ideas.search"))
    refund = {name: getattr(made[0], name) for name in ("charge", "job", "member", "operation")}
    refund |= {"confidence": "certain", "happened_at": NOON}
    made.append(EntryFactory(account=token.account, credit_spend="+96", **refund))
    for spend in ("-12", "+2000"):
        made.append(EntryFactory(account=other, credit_spend=spend, happened_at=NOON))
    at = datetime(2026, 10, 31, 22, 59, tzinfo=UTC)  # a minute before November, in Berlin
    made.append(add(token, "-60", happened_at=at))
    for account in (token.account, other):
        mark_fully_read(account)
        moments = account.entries.values_list("happened_at", flat=True)
        with transaction.atomic():
            rebuild_days(account, days_in_account_zone(account, moments))
    for name, rows in {"Sea": (made[0], made[2]), "School": (made[2],)}.items():
        label = Label.objects.create(team=thea.team, name=name, created_by=thea.user)
        label.jobs.add(*(row.job for row in rows if row.job))
    return made


def add(token: Token, spend: str, key: ApiKey | None = None, **fields: Any) -> LedgerEntry:
    given = matched(token, fields.pop("operation", "faceless.render"))
    if key:
        given["charge"].api_key = key
        given["charge"].save()
    given |= {"account": token.account, "credit_spend": spend, "happened_at": NOON, **fields}
    entry: LedgerEntry = EntryFactory(**given)
    return entry


@pytest.fixture
def reader(make_script: Callable[..., Script], thea: Membership) -> Script:
    return make_script(owner=thea, scopes=[KeyScope.REPORTS])


def read_all(script: Script, report: str, **params: str) -> list[dict[str, Any]]:
    """The rows of all pages; each answer is one of the description."""
    rows, cursor = [], None
    while True:
        sent = {**params, **({"cursor": cursor} if cursor else {})}
        answer = script.call("GET", f"/_{report}", params=sent)
        assert answer.status_code == 200, answer.text
        check_shape(f"{REPORTS[report]}Page", answer.json())
        rows += answer.json()["data"]["rows"]
        if (cursor := answer.json()["data"]["next_cursor"]) is None:
            return rows


def check_shape(schema: str, answer: Any) -> None:
    components = {"components": DOCUMENT["components"], "$ref": f"#/components/schemas/{schema}"}
    jsonschema_rs.Draft202012Validator(components, validate_formats=True).validate(answer)


def sums(rows: list[dict[str, Any]]) -> tuple[Decimal, Decimal]:
    spent = sum((Decimal(row["credits"]) for row in rows), Decimal(0))
    return spent, sum((Decimal(row["refund"]) for row in rows), Decimal(0))


def test_usage_adds_up_to_the_monthly_report(
    entries: list[LedgerEntry], reader: Script, thea: Membership
) -> None:
    accounts = tuple(load_ledger_accounts(thea.team.tenant))
    report = load_monthly_report(thea.team, accounts, datetime(2026, 11, 1).date())
    people = {row.email: (row.amount, row.refunded) for row in report.members if row.email}
    assert len(people) == 2
    for email, expected in people.items():
        assert sums(read_all(reader, "usage", person=email, **NOVEMBER)) == expected
    labels = {row.name: (row.amount, row.refunded) for row in report.labels if not row.kind}
    assert set(labels) == {"Sea", "School"}
    for name, expected in labels.items():
        assert sums(read_all(reader, "usage", label=name.upper(), **NOVEMBER)) == expected
    assert sums(read_all(reader, "usage", **NOVEMBER)) == (
        report.figures["spent"].amount - report.figures["outside"].amount,
        report.figures["refunded"].amount,
    )


def test_usage_has_a_row_for_each_job_with_who_what_and_how_much(
    entries: list[LedgerEntry], reader: Script, key: ApiKey, priya: Membership
) -> None:
    (row,) = read_all(reader, "usage", key=str(key.pk), **NOVEMBER)
    job = entries[2].job
    assert job is not None
    assert row == {
        "job": {
            "id": str(job.pk),
            "kind": job.kind,
            "service_id": job.remote_id,
            "title": job.title,
        },
        "operation": None,
        "person": {"id": priya.user_id, "name": "Priya Raman", "email": priya.user.email},
        "key": {"id": str(key.pk), "name": "weekly"},
        "labels": ["School", "Sea"],
        "credits": "30",
        "refund": "0",
        "first_booked_at": row["first_booked_at"],
    }
    assert read_all(reader, "usage", key="rr_live_Wk", **NOVEMBER) == [row]
    (search,) = [row for row in read_all(reader, "usage", **NOVEMBER) if row["job"] is None]
    assert (search["operation"], search["credits"]) == ("ideas.search", "6")
    assert len(read_all(reader, "usage", **{**NOVEMBER, "from": "2026-10-01"})) == 5


def test_the_ledger_has_the_rows_of_the_page_in_its_order(
    entries: list[LedgerEntry], reader: Script, thea: Membership
) -> None:
    page = load_ledger_page(thea, LedgerFilters(period="2026-11"))
    shown = [row["entry"].amount for day in page["entries"]["page"].days for row in day.rows]
    rows = read_all(reader, "ledger", **NOVEMBER)
    assert [Decimal(row["amount"]) for row in rows] == shown
    assert len(shown) == 7
    of_label = read_all(reader, "ledger", label="Sea", **NOVEMBER)
    assert sorted(row["amount"] for row in of_label) == ["-30", "-96", "96"]


def test_each_page_goes_on_where_the_one_before_ended(
    entries: list[LedgerEntry], reader: Script, thea: Membership
) -> None:
    for number in range(5):
        record_audit_event(thea, AuditAction.BUDGET_CHANGE, number)
        period, member = ("day", "week", "month")[number % 3], thea.user if number > 2 else None
        Budget.objects.create(team=thea.team, period=period, member=member, hard=number)
    for report in REPORTS:
        at_once = read_all(reader, report, limit="500")
        assert len(at_once) >= 4, report
        assert read_all(reader, report, limit="2") == at_once, report


def test_a_time_range_begins_with_its_first_moment_and_ends_before_its_last(
    entries: list[LedgerEntry], reader: Script
) -> None:
    at, later = NOON.isoformat(), (NOON + timedelta(microseconds=1)).isoformat()
    assert len(read_all(reader, "ledger", **{"from": at, "to": later})) == 7
    assert read_all(reader, "ledger", **{"from": later, "to": "2026-11-21"}) == []
    assert read_all(reader, "ledger", **{"from": "2026-11-20", "to": at}) == []
    assert read_all(reader, "usage", **{"from": "2026-11-20", "to": at}) == []


def test_budgets_are_those_of_the_page(
    make_script: Callable[..., Script], reader: Script, priya: Membership, luca: Membership
) -> None:
    for member in (None, priya.user, luca.user):
        Budget.objects.create(team=priya.team, member=member, hard=500, soft=400)
    rows = read_all(reader, "budgets")
    assert {row["person"]["name"] if row["person"] else None for row in rows} == {
        *(None, "Priya Raman", "Luca Moretti")
    }
    assert {(row["limit"], row["alert_at"], row["left"]) for row in rows} == {("500", "400", "500")}
    own = read_all(make_script(owner=priya, scopes=[KeyScope.REPORTS]), "budgets")
    assert {row["person"]["name"] if row["person"] else None for row in own} == {
        *(None, "Priya Raman")
    }
    assert len(read_all(reader, "budgets", person="Luca@Northlight.example")) == 1


def test_a_budget_of_a_label_and_a_raise_are_told(reader: Script, thea: Membership) -> None:
    sea = Label.objects.create(team=thea.team, name="Sea", created_by=thea.user)
    until = NOON + timedelta(days=1)
    Budget.objects.create(team=thea.team, label=sea, hard=500, raise_amount=50, raise_until=until)
    Budget.objects.create(team=thea.team, hard=900, raise_amount=50, raise_until=NOON)
    (row,) = read_all(reader, "budgets", label="sea")
    assert (row["label"], row["limit"], row["raised_by"]) == ("Sea", "550", "50")
    assert row["raised_until"] == until.isoformat()
    (ended,) = [row for row in read_all(reader, "budgets") if row["label"] is None]
    assert (ended["limit"], ended["raised_by"], ended["raised_until"]) == ("900", "0", None)


def test_audit_entries_are_those_that_the_role_may_read(
    make_script: Callable[..., Script],
    reader: Script,
    thea: Membership,
    jonas: Membership,
    priya: Membership,
) -> None:
    record_audit_event(jonas, AuditAction.SIGN_IN, jonas.user_id, method="password")
    record_audit_event(thea, AuditAction.BUDGET_CHANGE, 1, before={"hard": "10"})
    (row,) = read_all(reader, "audit")
    event = AuditEvent.objects.get(position=row["position"])
    assert (row["action"], row["before"], row["row_hash"]) == (
        *("budget.change", {"hard": "10"}),
        event.row_hash,
    )
    admin = make_script(owner=jonas, scopes=[KeyScope.REPORTS])
    assert len(read_all(admin, "audit")) == 2
    assert len(read_all(admin, "audit", person="thea@northlight.example")) == 1
    producer = make_script(owner=priya, scopes=[KeyScope.REPORTS])
    answer = producer.call("GET", "/_audit")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "GEN-FORBIDDEN")
    assert producer.call("GET", "/_ledger").status_code == 200


@pytest.mark.parametrize("report", REPORTS)
def test_reports_need_their_scope_and_a_member(
    make_script: Callable[..., Script], thea: Membership, report: str
) -> None:
    scopes = set(KeyScope) - {KeyScope.REPORTS}
    answer = make_script(owner=thea, scopes=scopes).call("GET", f"/_{report}")
    assert answer.json()["error"] == {
        "code": "SCOPE-MISSING",
        "request_id": answer.headers["reelroom-request-id"],
        "scope": "reports",
    }
    assert GatewayRequest.objects.get().operation == f"_{report}"
    script = make_script(owner=thea, scopes=[KeyScope.REPORTS], paused_at=NOON)
    assert script.call("GET", f"/_{report}").status_code == 200  # a paused key reads
    Membership.objects.filter(pk=thea.pk).update(role=Role.VIEWER)
    assert script.call("GET", f"/_{report}").status_code == (403 if report == "audit" else 200)
    Membership.objects.filter(pk=thea.pk).update(deactivated_at=NOON)
    assert script.call("GET", f"/_{report}").status_code == 409


BAD_QUERIES = [
    *("ledger?form=2026-11-01", "ledger?from=yesterday", "ledger?from=2026-11-20&to=2026-11-20"),
    *("ledger?from=0001-01-01", "usage?limit=0", "usage?limit=501", "usage?limit=ten"),
    *("usage?person=nobody@x.example", "usage?person=999999", "usage?person=", "usage?key=x"),
    *("usage?key=6a0e2b6c-8a01-4b0e-9a3b-0b8f5d5a6c11", "usage?label=None", "usage?cursor=1"),
    *("usage?cursor=1.2.9223372036854775808", "ledger?cursor=1.2.3.4", "audit?cursor=-1"),
    *("audit?label=Sea", "budgets?from=2026-11-01", "usage?limit=5&limit=6", "usage?label=%00"),
    *("audit?to=9999-12-31", "ledger?from=2026-11-20T10:00:00%2B99:00"),
]


@pytest.mark.parametrize("query", BAD_QUERIES)
def test_what_a_report_does_not_take_is_refused_in_a_sentence(reader: Script, query: str) -> None:
    answer = reader.call("GET", f"/_{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "GEN-WRONG-ARGS")
    assert answer.json()["message"].endswith(".")


def test_another_team_has_nothing_of_it(
    entries: list[LedgerEntry], make_script: Callable[..., Script], otto: Membership, key: ApiKey
) -> None:
    script = make_script(owner=otto, scopes=[KeyScope.REPORTS])
    for report in ("usage", "ledger", "budgets", "audit"):
        assert read_all(script, report) == []
    for param in (f"key={key.pk}", "label=Sea", "person=priya@northlight.example"):
        assert script.call("GET", f"/_usage?{param}").status_code == 400


@pytest.mark.django_db
@pytest.mark.parametrize("month", [9, 10])
def test_usage_of_a_large_team_adds_up_to_each_row_of_its_report(
    mira: Membership, month: int
) -> None:
    team = seed_team(SeedSize(entries=400, members=8, jobs=40, days=120), mira.user, seed=3)
    owner = team.memberships.get(user=mira.user)
    first = datetime(2026, month, 1)
    span = {"from": first, "to": datetime(2026, month + 1, 1)}
    zone = team.tenant.zone
    times = {name: at.replace(tzinfo=zone).isoformat() for name, at in span.items()}
    report = load_monthly_report(team, tuple(load_ledger_accounts(team.tenant)), first.date())
    people = {row.email: row for row in report.members if row.email and not row.kind}
    assert len(people) > 3
    known = {"from", "to", "person"}
    for email, row in people.items():
        query = parse_query(owner, {**times, "person": email, "limit": "3"}, known)
        listed, cursor = [], ""
        while True:
            page = read_usage(owner, replace(query, cursor=cursor))
            listed += page.rows
            if page.next_cursor is None:
                break
            cursor = page.next_cursor
        assert sums(listed) == (row.amount, row.refunded)
