"""The request log: what it shows to whom, its filters and pages, and one request as a drawer."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.api_requests import pages
from dashboard.api_requests.pages import RequestFilters, load_requests
from dashboard.models import Membership
from dashboard.shared.job_pages import job_page_url
from proxyapi.models import ApiKey, Charge, ChargeState, GatewayRequest
from tests.dashboard.api_requests.requests import log_request, make_key
from tests.factories import AccountFactory, ChargeFactory, EntryFactory, JobFactory, TokenFactory

pytestmark = pytest.mark.postgresql

Browser = Callable[[Membership], Client]
HTMX = {"HX-Request": "true"}
PAGE = "/api-keys/requests/"


@pytest.fixture
def key(priya: Membership) -> ApiKey:
    return make_key(priya)


def paths_of(reader: Membership, **query: str) -> list[str]:
    rows = load_requests(reader, RequestFilters.parse(query))["rows"]
    return [row["request"].path for row in rows]


def make_charge(key: ApiKey, **fields: Any) -> Charge:
    account = AccountFactory.create(tenant=key.tenant)
    token = TokenFactory.create(account=account, owner=key.owner)
    job = JobFactory.create(account=account, token=token, title="Whales in fog")
    return ChargeFactory.create(
        job=job, api_key=key, quote=Decimal(42), hold=Decimal(46), sent_at=timezone.now(), **fields
    )


def render_of(key: ApiKey, charge: Charge | None, **fields: Any) -> GatewayRequest:
    values = {"operation": "faceless.render", "path": "/faceless/4817/render", "status": 202}
    job = charge.job if charge else None
    return log_request(key, charge=charge, job=job, **{**values, **fields})


def text_of(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def test_requests_are_shown_newest_first(mira: Membership, key: ApiKey) -> None:
    for number in range(3):
        log_request(key, path=f"/faceless/{number}")
    assert paths_of(mira) == ["/faceless/2", "/faceless/1", "/faceless/0"]


def test_a_row_names_key_member_and_operation(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    render_of(key, make_charge(key, state=ChargeState.CONFIRMED, cost=Decimal(42)))
    text = text_of(client_of(mira).get(PAGE))
    for words in ("nightly-shorts", "Priya Raman", "POST /faceless/4817/render", "Render"):
        assert words in text
    assert "\N{MINUS SIGN}42" in text


@pytest.mark.parametrize(
    ("state", "cost", "shown"),
    [
        (ChargeState.CONFIRMED, 42, "\N{MINUS SIGN}42"),
        (ChargeState.UNKNOWN, None, "0 or 42"),
        (ChargeState.SENDING, None, "0 or 42"),
        (ChargeState.REFUSED, None, "0"),
        (ChargeState.DRAFT, None, "0"),
    ],
)
def test_credits_are_those_of_the_charge(
    state: str, cost: int | None, shown: str, mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    render_of(key, make_charge(key, state=state, cost=cost))
    assert credit_cells(client_of(mira).get(PAGE)) == [shown]


def test_free_replayed_and_refused_requests_cost_nothing(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    log_request(key)
    render_of(key, None, is_replayed=True, service_requests=0)
    render_of(key, None, status=402, code="BUDGET-EXCEEDED", service_requests=0)
    response = client_of(mira).get(PAGE)
    assert credit_cells(response) == ["0", "0", "free"]
    text = text_of(response)
    assert "402 BUDGET-EXCEEDED" in text
    assert "replayed" in text
    assert "not sent" in text


def credit_cells(response: Any) -> list[str]:
    cells = re.findall(
        r'<td data-at="value" class="num">(.*?)</td>', response.content.decode(), re.S
    )
    return [re.sub(r"<[^>]+>", "", cell).strip() for cell in cells]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"status": "4xx"}, ["/text-to-video"]),
        ({"status": "2xx"}, ["/me", "/faceless/4817/render"]),
        ({"status": "reelroom"}, ["/text-to-video"]),
        ({"replayed": "yes"}, ["/faceless/4817/render"]),
        ({"replayed": "no"}, ["/text-to-video", "/me"]),
        ({"operation": "me.get"}, ["/me"]),
        ({"q": "4817"}, ["/faceless/4817/render"]),
        ({"q": "budget-exc"}, ["/text-to-video"]),
        ({"period": "7"}, ["/text-to-video", "/me", "/faceless/4817/render", "/old"]),
        ({"q": "nothing of this kind"}, []),
        (
            {"status": "x", "operation": "x", "key": "x", "member": "x", "before": "1.x"},
            ["/text-to-video", "/me", "/faceless/4817/render"],
        ),
    ],
)
def test_filters_are_in_the_url(
    query: dict[str, str], expected: list[str], mira: Membership, key: ApiKey
) -> None:
    log_request(key, path="/old", received_at=timezone.now() - timedelta(days=3))
    render_of(key, None, is_replayed=True, service_requests=0)
    log_request(key, operation="me.get", path="/me")
    log_request(key, path="/text-to-video", status=402, code="BUDGET-EXCEEDED", service_requests=0)
    assert paths_of(mira, **query) == expected


def test_key_and_member_are_filters(mira: Membership, key: ApiKey, luca: Membership) -> None:
    log_request(key, path="/of-priya")
    other = make_key(luca, "finance-sheet")
    log_request(other, path="/of-luca")
    assert paths_of(mira, key=str(other.pk)) == ["/of-luca"]
    assert paths_of(mira, member=str(key.owner_id)) == ["/of-priya"]


def test_the_id_of_a_request_finds_it_in_any_period(mira: Membership, key: ApiKey) -> None:
    old = log_request(key, path="/old", received_at=timezone.now() - timedelta(days=20))
    assert paths_of(mira, q=str(old.pk)) == ["/old"]
    assert paths_of(mira, q=str(uuid4())) == []


def test_pages_leave_nothing_out_among_requests_of_one_moment(
    mira: Membership, key: ApiKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "PAGE_SIZE", 2)
    at = timezone.now()
    for number in range(5):
        log_request(key, path=f"/{number}", received_at=at)
    seen: list[str] = []
    url = ""
    while True:
        query = dict(part.split("=") for part in url.partition("?")[2].split("&") if part)
        page = load_requests(mira, RequestFilters.parse(query))
        seen += [row["request"].path for row in page["rows"]]
        if not (url := page["list"].next_url):
            break
    assert sorted(seen) == [f"/{number}" for number in range(5)]


def test_a_producer_sees_requests_of_own_keys_alone(
    priya: Membership, luca: Membership, key: ApiKey, client_of: Browser
) -> None:
    log_request(key, path="/of-priya")
    foreign = log_request(make_key(luca, "finance-sheet"), path="/of-luca")
    assert paths_of(priya) == ["/of-priya"]
    browser = client_of(priya)
    assert "finance-sheet" not in browser.get(PAGE).content.decode()
    assert browser.get(f"{PAGE}{foreign.pk}/").status_code == 404


def test_the_log_does_not_exist_for_a_viewer(
    vera: Membership, key: ApiKey, client_of: Browser
) -> None:
    row = log_request(key)
    browser = client_of(vera)
    for url in (PAGE, f"{PAGE}{row.pk}/", f"{PAGE}export/"):
        assert browser.get(url).status_code == 404
    assert PAGE not in browser.get("/").content.decode()


def test_another_team_sees_nothing(otto: Membership, key: ApiKey, client_of: Browser) -> None:
    row = log_request(key, path="/of-priya")
    assert paths_of(otto) == []
    assert client_of(otto).get(f"{PAGE}{row.pk}/").status_code == 404


def test_the_drawer_leads_to_the_ledger_and_to_the_video(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    charge = make_charge(key, state=ChargeState.MATCHED, cost=Decimal(42))
    entry = EntryFactory.create(
        account=charge.account, charge=charge, credit_spend="-42", confidence="certain"
    )
    row = render_of(key, charge)
    html = client_of(mira).get(f"{PAGE}{row.pk}/", headers=HTMX).content.decode()
    assert f'href="/ledger/{entry.account_id}/{entry.position}/"' in html
    assert f'href="{job_page_url(charge.job)}"' in html
    assert f'data-copy="{row.pk}"' in html


def test_the_drawer_of_a_lost_answer_says_that_it_is_not_sent_again(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    row = render_of(key, make_charge(key, state=ChargeState.UNKNOWN))
    text = text_of(client_of(mira).get(f"{PAGE}{row.pk}/", headers=HTMX))
    assert "0 or 42" in text
    assert "It will not be sent again" in text


def test_the_drawer_leads_to_newer_and_older_requests(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    older, row, newer = (log_request(key, path=f"/{number}") for number in range(3))
    html = client_of(mira).get(f"{PAGE}{row.pk}/", headers=HTMX).content.decode()
    assert f'{older.pk}/" hx-target="#dialogs" data-key="ArrowDown"' in html
    assert f'{newer.pk}/" hx-target="#dialogs" data-key="ArrowUp"' in html


def test_without_htmx_the_drawer_is_open_over_the_list(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    row = log_request(key)
    html = client_of(mira).get(f"{PAGE}{row.pk}/").content.decode()
    assert "data-page" in html
    assert 'id="api-requests"' in html


def test_an_empty_log_says_what_will_be_in_it(mira: Membership, client_of: Browser) -> None:
    browser = client_of(mira)
    assert "No requests in this period" in browser.get(PAGE).content.decode()
    assert "Nothing matches" in browser.get(f"{PAGE}?q=x").content.decode()


def test_the_figures_are_those_of_the_last_hour(mira: Membership, key: ApiKey) -> None:
    log_request(key, received_at=timezone.now() - timedelta(hours=2))
    log_request(key, service_requests=2, waited_ms=6000)
    log_request(key, status=429, code="RATE-LIMITED", service_requests=0)
    render_of(key, None, is_replayed=True, service_requests=0)
    hour = load_requests(mira, RequestFilters.parse({}))["hour"]
    assert hour == {
        "all": 3, "sent": 2, "replayed": 1, "refused": 1, "waited": 1, "limited": 1
    }  # fmt: skip


def test_a_page_of_fifty_takes_few_queries(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    for _ in range(50):
        render_of(key, make_charge(key, state=ChargeState.CONFIRMED, cost=1))
    browser = client_of(mira)
    browser.get(PAGE)
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(PAGE).status_code == 200
    assert len(queries) <= 13, [query["sql"][:80] for query in queries]


def test_a_drawer_takes_at_most_seven_queries(
    mira: Membership, key: ApiKey, client_of: Browser
) -> None:
    row = render_of(key, make_charge(key, state=ChargeState.CONFIRMED, cost=1))
    browser = client_of(mira)
    browser.get(PAGE)
    with CaptureQueriesContext(connection) as queries:
        assert browser.get(f"{PAGE}{row.pk}/", headers=HTMX).status_code == 200
    assert len(queries) <= 7, [query["sql"][:80] for query in queries]
