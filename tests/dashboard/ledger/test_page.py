"""The ledger page: what each row says, what the filters leave, what is said of half a ledger."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.ledger.queries.filters import parse_ledger_filters
from dashboard.ledger.queries.page import load_ledger_page
from dashboard.models import Membership
from dashboard.shared.account_tabs import account_labels
from proxyapi.models import Account, LedgerEntry, LedgerMirror
from proxyapi.rollups import daily_totals
from tests.dashboard.ledger.conftest import days_ago, mark_fully_read, sum_up
from tests.factories import AccountFactory, EntryFactory, MembershipFactory

pytestmark = pytest.mark.postgresql

MOST_QUERIES = 15


def page(reader: Membership, **query: object) -> dict[str, Any]:
    return load_ledger_page(
        reader, parse_ledger_filters({name: str(value) for name, value in query.items()})
    )


def rows(shown: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for day in shown["entries"]["page"].days for row in day.rows]


def spent(reader: Membership, **query: object) -> list[int]:
    return [int(row["entry"].amount) for row in rows(page(reader, **query))]


def test_a_row_says_who_and_what(add_entry, thea, client_of):
    add_entry()
    (row,) = rows(page(thea))
    assert (row["clock"], row["what"], row["entry"].content_type, str(row["entry"].member)) == (
        "11:00",
        "Render",
        "ai-visuals",
        "Priya Raman",
    )
    assert (row["entry"].job.title, row["state"]) == ("How to read a glacier", "")
    assert "Certain" not in client_of(thea).get("/ledger/").content.decode()


@pytest.mark.parametrize(("confidence", "word"), [("likely", "Likely"), ("weak", "Perhaps")])
def test_a_row_says_that_its_charge_is_not_certain(confidence, word, add_entry, thea, client_of):
    add_entry(confidence=confidence)
    (row,) = rows(page(thea))
    assert (row["glyph"], row["word"]) == ("likely", word)
    assert row["entry"].reason == "The amount fits this charge alone."
    assert (
        'title="The amount fits this charge alone."'
        in client_of(thea).get("/ledger/").content.decode()
    )


def test_what_no_charge_explains_is_outside_the_portal(add_entry, thea, client_of):
    add_entry(by=None, label="Faceless video")
    (row,) = rows(page(thea))
    assert (row["state"], row["glyph"], row["word"]) == ("outside", "outside", "Outside the portal")
    assert page(thea)["totals"]["figures"].matched_percent == "0 %"
    html = client_of(thea).get("/ledger/").content.decode()
    assert '<dt>Matched to charges</dt><dd class="amount--lead num">0 %</dd>' in html
    assert 'class="hatch"' in html  # the bar of the day
    assert 'data-state="outside"' in html


def test_credits_that_came_need_no_charge(add_entry, thea):
    add_entry("+2000", by=None, label="Automatic top-up")
    (row,) = rows(page(thea))
    assert (row["direction"], row["state"], row["word"]) == ("in", "", "")
    assert page(thea)["totals"]["figures"].received == 2000


def test_days_are_groups_with_their_sums(add_entry, thea):
    for hours in (1, 2, 26, 27):
        add_entry(happened_at=days_ago(hours=hours))
    days = page(thea)["entries"]["page"].days
    assert [(day.title, int(day.net)) for day in days] == [
        ("Today, Fri 20 Nov", -192),
        ("Yesterday, Thu 19 Nov", -192),
    ]


def test_days_are_those_of_the_teams_zone(add_entry, thea):
    """pitfall_68: half past eleven in UTC is tomorrow in Auckland."""
    thea.team.tenant.time_zone = "Pacific/Auckland"
    thea.team.tenant.save()
    entry = add_entry(by=None, happened_at=days_ago(minutes=30))
    entry.account.refresh_from_db()
    sum_up(Account.objects.get(pk=entry.account_id))
    (day,) = page(thea)["entries"]["page"].days
    assert (day.title, day.rows[0]["clock"]) == ("Today, Sat 21 Nov", "00:30")


@pytest.mark.parametrize(
    ("zone", "second"),
    [("Pacific/Auckland", "253402300799"), ("Pacific/Honolulu", "-62135596800")],
)
def test_a_place_at_the_end_of_the_calendar_is_as_if_it_were_not_there(
    add_entry, thea, zone, second
):
    thea.team.tenant.time_zone = zone
    thea.team.tenant.save()
    account = add_entry().account
    LedgerMirror.objects.update(rollup_time_zone=zone)
    (row,) = rows(page(thea, period="all", after=f"{second}.0.{account.pk.hex}.1"))
    assert row["what"] == "Render"


def test_a_banner_says_that_daily_totals_are_being_recalculated(add_entry, thea):
    account = add_entry(happened_at=days_ago(minutes=30)).account
    assert page(thea)["totals"]["banners"] == ()
    thea.team.tenant.time_zone = "Pacific/Auckland"
    thea.team.tenant.save()
    (banner,) = page(thea)["totals"]["banners"]
    assert banner.title == "Daily totals are being recalculated."
    assert "Pacific/Auckland" in banner.text
    daily_totals.rebuild_all_days(account)
    assert page(thea)["totals"]["banners"] == ()


def test_while_days_are_recounted_in_the_same_zone_no_previous_zone_is_mentioned(add_entry, thea):
    """As after a view that changed: which sums are of the API is what is counted."""
    daily_totals.request_rebuild(add_entry(happened_at=days_ago(minutes=30)).account)
    (banner,) = page(thea)["totals"]["banners"]
    assert banner.text == (
        "We are recalculating daily totals for UTC. Some totals still use the previous time zone. "
        "This finishes automatically."
    )


def test_without_entries_there_is_nothing_to_count_again(account, thea):
    LedgerMirror.objects.update(rollup_time_zone="Pacific/Auckland")
    assert page(thea)["totals"]["banners"] == ()


@pytest.fixture
def mixed_entries(add_entry, token, luca) -> None:
    add_entry("-96")
    add_entry("-14", operation="faceless.export", label="Faceless video export")
    add_entry("-42", by=None, label="Text to video", content_type="text-to-video", via_api=False)
    add_entry(
        "+96", label="Refund", charge=None, confidence="", job=None, member=None, operation=""
    )
    add_entry("-4", member=luca.user, operation="faceless.scripts", label="Script generation")
    add_entry("-7", happened_at=days_ago(days=40))


FILTERS: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [-96, -42, -14, -4, 96]),
    ({"period": "all"}, [-96, -42, -14, -7, -4, 96]),
    ({"period": "2026-10"}, [-7]),
    ({"period": "2026-11-20"}, [-96, -42, -14, -4, 96]),
    ({"period": "2026-10-01..2026-10-12"}, [-7]),
    ({"feature": "faceless.export"}, [-14]),
    ({"content_type": "text-to-video"}, [-42]),
    ({"content_type": "text-to-video", "feature": "faceless.render"}, []),
    ({"direction": "in"}, [96]),
    ({"direction": "out"}, [-96, -42, -14, -4]),
    ({"source": "web"}, [-42]),
    ({"source": "api", "direction": "out"}, [-96, -14, -4]),
    ({"match": "no"}, [-42, 96]),
    ({"match": "yes"}, [-96, -14, -4]),
    ({"job": uuid.UUID(int=1)}, []),
    ({"account": uuid.UUID(int=1)}, []),
    ({"period": "yesterday", "direction": "up", "after": "x"}, [-96, -42, -14, -4, 96]),
]


@pytest.mark.usefixtures("mixed_entries")
def test_a_filter_leaves_what_it_says(thea):
    for query, left in FILTERS:
        shown = page(thea, **query)
        assert sorted(int(row["entry"].amount) for row in rows(shown)) == left, query
        assert int(shown["totals"]["figures"].net) == sum(left), query
        assert shown["list"].total == len(left), query


@pytest.mark.usefixtures("mixed_entries")
def test_a_member_and_a_job_are_filters_too(thea, luca, priya):
    assert spent(thea, member=luca.user_id) == [-4]
    assert sorted(spent(thea, member=priya.user_id)) == [-96, -14]
    job = LedgerEntry.objects.get(amount=-14).job_id
    assert spent(thea, job=job) == [-14]
    chosen = next(chip for chip in page(thea, job=job)["list"].chips if chip.name == "job")
    assert chosen.current_label == "How to read a glacier"


def test_the_menu_offers_content_types_where_each_label_is_a_title(add_entry, client_of, thea):
    for number in range(3):
        add_entry(label=f"Night at harbour {number}", content_type="Faceless video generated")
    browser = client_of(thea)
    html = browser.get("/ledger/").content.decode()
    assert html.count('<option value="Faceless video generated"') == 2  # chip and sheet
    assert '<option value="Night at harbour' not in html
    html = browser.get("/ledger/", {"content_type": "Faceless video generated"}).content.decode()
    assert '<option value="Faceless video generated" selected' in html


@pytest.mark.usefixtures("mixed_entries")
def test_filters_live_in_the_address(client_of, thea):
    query = "/ledger/?feature=faceless.export&period=all&sort=oldest"
    html = client_of(thea).get(query).content.decode()
    assert '<option value="faceless.export" selected>' in html
    assert "/ledger/export/?feature=faceless.export&amp;period=all&amp;sort=oldest" in html


@pytest.mark.usefixtures("mixed_entries")
def test_a_script_and_a_long_label_stay_text(add_entry, client_of, thea):
    add_entry(by=None, label="<script>alert(1)</script>", content_type="{{ 7|add:7 }}")
    html = client_of(thea).get("/ledger/").content.decode()
    assert "<script>alert(1)" not in html
    assert "&lt;script&gt;alert(1)" in html


def test_a_ledger_that_is_still_being_read_says_how_far(add_entry, thea, client_of):
    account = add_entry().account
    LedgerMirror.objects.filter(pk=account.pk).update(low=200, high=1_200, total=41_000)
    (banner,) = page(thea)["totals"]["banners"]
    assert banner.text.startswith("1,000 of 41,000 entries are loaded.")
    assert "1,000 of 41,000" in client_of(thea).get("/ledger/").content.decode()


def test_a_ledger_that_is_not_read_on_says_why(add_entry, thea):
    account = add_entry().account
    LedgerMirror.objects.filter(pk=account.pk).update(problem="Row 7 reads differently now.")
    assert [(one.state, one.text) for one in page(thea)["totals"]["banners"]] == [
        ("late", "Row 7 reads differently now.")
    ]


def test_an_account_whose_ledger_was_never_read_says_so(thea, client_of):
    AccountFactory.create(tenant=thea.team.tenant, name="Spare")
    (banner,) = page(thea)["totals"]["banners"]
    assert banner.title == "The ledger of Spare has not been read yet."
    assert "No entries in these days" in client_of(thea).get("/ledger/").content.decode()


def test_a_team_without_an_account_is_led_to_its_first_token(otto, client_of):
    html = client_of(otto).get("/ledger/").content.decode()
    assert "No account yet" in html
    assert "Add a token" in html
    assert "No entries in these days" not in html


def test_two_accounts_are_one_ledger_or_each_its_own(add_entry, thea):
    """pitfall_66: several accounts of a team, each read once."""
    first = add_entry().account
    second = mark_fully_read(AccountFactory.create(tenant=thea.team.tenant))
    EntryFactory.create(account=second, credit_spend="-5", happened_at=days_ago(hours=2))
    sum_up(second)
    assert spent(thea) == [-96, -5]
    assert spent(thea, account=first.pk) == [-96]
    assert spent(thea, account=second.pk) == [-5]


def test_nothing_of_another_team_is_counted(add_entry, thea, otto):
    entry = add_entry()
    assert rows(page(otto)) == []
    assert rows(page(otto, account=entry.account_id)) == []
    assert rows(page(otto, job=entry.job_id, period="all")) == []


def test_a_new_entry_is_marked_when_the_list_refetches(add_entry, thea, client_of):
    add_entry()
    browser = client_of(thea)
    url = re.search(r'hx-get="([^"]*part=entries[^"]*)"', browser.get("/ledger/").content.decode())
    assert url is not None
    fresh: Any = url[1].replace("&amp;", "&")
    assert b"data-new" not in browser.get(fresh).content
    add_entry("-14")
    again = browser.get(fresh).content.decode()
    assert again.count("data-new") == 1
    assert again.lstrip().startswith('<section class="card card--flush" id="ledger-entries"')
    assert "reelroom:ledger from:body" in again


def test_the_very_first_entry_is_marked_too(add_entry, account, thea, client_of):
    browser = client_of(thea)
    assert b"part=entries&amp;known=0" in browser.get("/ledger/").content
    add_entry()
    assert b"data-new" in browser.get("/ledger/?part=entries&known=0").content


@pytest.mark.usefixtures("mixed_entries")
@pytest.mark.parametrize(
    "path",
    ["", "?by=feature", "?period=all&sort=oldest", "?job={job}", "?member={member}", "charts/"],
)
def test_a_page_takes_few_queries(path, client_of, thea):
    entry = LedgerEntry.objects.get(amount=-14)
    for number in range(8):
        MembershipFactory.create(team=thea.team, user__name=f"Person {number}")
    browser = client_of(thea)
    with CaptureQueriesContext(connection) as asked:
        assert browser.get(f"/ledger/{path.format(job=entry.job_id, member=entry.member_id)}")
    assert len(asked) <= MOST_QUERIES


@pytest.mark.usefixtures("mixed_entries")
def test_a_choice_of_filters_refreshes_the_body_and_the_address(client_of, thea):
    answer = client_of(thea).get(
        "/ledger/?match=no", headers={"HX-Request": "true", "HX-Trigger": "ledger-filters"}
    )
    assert answer.headers["HX-Push-Url"] == "/ledger/?match=no"
    html = answer.content.decode()
    assert "<html" not in html
    assert 'id="ledger-chips" hx-swap-oob="true"' in html


@pytest.mark.parametrize("name", ["q", "content_type", "feature"])
def test_a_nul_in_the_address_asks_for_what_the_rest_says(
    name: str, add_entry, client_of, thea
) -> None:
    """PostgreSQL takes it in no text."""
    add_entry()
    assert client_of(thea).get("/ledger/", {name: "no\0thing"}).status_code == 200


def test_accounts_of_the_same_name_are_told_apart(account, thea, client_of):
    same = {"tenant": account.tenant, "name": account.name}
    for fields in ({"email": "b@x.example"}, {"email": "c@x.example"}, {"email": "c@x.example"}):
        mark_fully_read(AccountFactory.create(**same, **fields))
    labels = account_labels(Account.objects.all())
    assert len(set(labels.values())) == 4
    assert f"{account.name} (b@x.example)" in labels.values()
    shown = client_of(thea).get("/ledger/").content.decode()
    assert all(label in shown for label in labels.values())
    assert account_labels([account]) == {account.pk: account.name}


def test_totals_are_shown_in_money_if_the_selected_accounts_have_one_price(
    add_entry, account, thea, client_of
):
    add_entry("-96")
    add_entry("2000", by="")
    totals = "/ledger/?part=totals"
    assert "≈" not in client_of(thea).get(totals).content.decode()
    Account.objects.update(price_per_credit="0.0125", price_currency="EUR")
    shown = client_of(thea).get(totals).content.decode()
    assert (shown.count("<small>≈ €1.20</small>"), shown.count("<small>≈ €25.00</small>")) == (1, 1)
    AccountFactory.create(tenant=thea.team.tenant, price_per_credit="0.0125", price_currency="USD")
    assert "≈" not in client_of(thea).get(totals).content.decode()
    assert "≈ €1.20" in client_of(thea).get(f"{totals}&account={account.pk}").content.decode()
