"""The overview: what the team has, what it spent, what runs, and that it is honest when empty."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from proxyapi.models import Account, AutoTopUp, Token, TokenState
from tests.dashboard.overview.conftest import ago, video
from tests.factories import AccountFactory, TokenFactory

PART_URLS = {
    **{part: f"/?part={part}" for part in ("credits", "attention", "spend", "spenders", "running")},
    # Parts that other areas answer.
    "forecast": "/forecast/summary/",
    "estimates": "/costs/estimate-accuracy/",
}


def page(client_of, reader, query=""):
    answer = client_of(reader).get(f"/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def running(token):
    def make(title="How to read a glacier", **fields):
        return video(
            token,
            title=title,
            state="running",
            raw_status="rendering",
            started_at=ago(minutes=2),
            polled_at=ago(seconds=3),
            next_poll_at=ago(seconds=-5),
            **fields,
        )

    return make


@pytest.mark.parametrize("role", ["mira", "jonas", "thea", "priya", "vera"])
def test_everybody_of_the_team_sees_it(role, request, client_of, account, token, add_entry):
    add_entry(-96)
    assert "4,318" in page(client_of, request.getfixturevalue(role))


def test_the_whole_page_takes_few_queries(
    client_of, vera, token, ledger, add_entry, make_charge, running, django_assert_max_num_queries
):
    for _ in range(5):
        add_entry(-96, charge=make_charge(96))
        running()
        make_charge(42, state="unknown")
    browser = client_of(vera)
    browser.get("/")
    with django_assert_max_num_queries(25):
        browser.get("/")


@pytest.mark.parametrize("part", PART_URLS)
def test_each_part_comes_alone_without_the_shell(
    part, client_of, vera, token, add_entry, make_charge, django_assert_max_num_queries
):
    add_entry(-96, charge=make_charge(96, quote=Decimal(96)))
    browser = client_of(vera)
    with django_assert_max_num_queries(16):
        shown = browser.get(PART_URLS[part]).content.decode()
    assert f'id="overview-{part}"' in shown
    assert "<html" not in shown


@pytest.mark.parametrize("part", ["forecast", "estimates"])
def test_the_page_fetches_the_parts_of_other_areas(part, client_of, vera, token, ledger):
    assert re.search(
        rf'id="overview-{part}"[^>]* hx-get="{PART_URLS[part]}"', page(client_of, vera)
    )


def test_an_unknown_part_is_the_page(client_of, vera, token):
    assert "<html" in page(client_of, vera, "?part=../secrets&span=century")


def test_signing_in_leads_to_it(client_of, vera, settings):
    assert settings.LOGIN_REDIRECT_URL == "/"
    assert "<h1>Overview</h1>" in page(client_of, vera)


def test_a_new_team_sees_how_it_gets_credits(client_of, otto):
    shown = page(client_of, otto)
    assert "No account yet" in shown
    assert "Add a token" in shown
    assert "Spend per day" not in shown


def test_an_account_without_a_working_token_keeps_its_ledger(client_of, vera, token, add_entry):
    add_entry(-96)
    Token.objects.filter(pk=token.pk).update(state=TokenState.REMOVED)
    shown = page(client_of, vera)
    assert "The account cannot be spent: no working token." in shown
    assert "not spendable: no working token" in shown
    assert "Outside the portal" in shown
    assert '<p class="figure">0' in shown
    assert "No account can be spent now." in shown  # instead of a chart of its former balance
    assert f'value="{token.account.balance.normalize():f}"' in shown


def test_a_viewer_is_not_offered_what_is_not_theirs(client_of, vera):
    assert "Add a token" not in page(client_of, vera).partition("<main")[2].partition("</main")[0]


def test_without_spend_nothing_is_drawn(client_of, vera, token):
    shown = page(client_of, vera)
    for words in (
        "No ledger entries yet.",
        "Nothing was spent in the last 30 days.",
        "No spend in the last 30 days.",
        "Nothing is rendering.",
        "Nothing needs attention.",
        "The ledger has not been read yet.",
    ):
        assert words in shown, words


def test_what_is_held_is_taken_off(client_of, vera, token, make_charge):
    make_charge(state="unknown", hold=Decimal(46))
    shown = page(client_of, vera)
    assert "Held by 1 open charge" in shown
    assert '<p class="figure">4,272' in shown


def test_each_account_says_when_it_was_seen(client_of, vera, northlight, account, token, priya):
    Account.objects.filter(pk=account.pk).update(balance_as_of=timezone.now() - timedelta(days=2))
    other = AccountFactory.create(tenant=northlight.tenant, name="Shorts", balance=Decimal(500))
    TokenFactory.create(account=other, owner=priya.user)
    shown = page(client_of, vera)
    assert shown.count("as of ") >= 2
    assert "2 accounts, 24,000 credits a month in total." in shown
    assert '<p class="figure">4,818' in shown


def test_what_renders_is_shown_with_its_bar(client_of, vera, token, running):
    running("Whales in fog")
    shown = page(client_of, vera)
    assert "Whales in fog" in shown
    assert 'class="timebar"' in shown


def test_what_renders_comes_before_the_reports_and_stands_beside_them(client_of, vera, token):
    html = page(client_of, vera)
    assert 'cols__second" id="overview-running"' in html
    parts = re.findall(r'id="overview-(running|spenders|estimates)"', html)
    assert parts == ["running", "spenders", "estimates"]


def test_while_nothing_renders_the_newest_videos_are_shown(client_of, vera, token, running):
    for number in range(6):
        film = {"media_url": "https://media.example/1.mp4", "finished_at": ago(hours=number)}
        video(token, title=f"Finished {number}", state="completed", **film)
    shown = page(client_of, vera, "?part=running")
    assert [f"Finished {number}" in shown for number in range(6)] == [True] * 4 + [False] * 2
    assert shown.count("data-still=") == 4
    running("Whales in fog")
    shown = page(client_of, vera, "?part=running")
    assert "Whales in fog" in shown
    assert "Finished 0" not in shown


def test_the_ledger_says_how_far_it_is_read(client_of, vera, token, ledger):
    ledger.low, ledger.high, ledger.total = 5_800, 10_000, 10_000
    ledger.save()
    assert "4,200 of 10,000 rows" in page(client_of, vera)


def test_a_stopped_top_up_waits_for_a_person(client_of, vera, account, token):
    AutoTopUp.objects.create(account=account, enabled=False, consecutive_failures=3)
    shown = page(client_of, vera)
    assert "Automatic top-up was switched off" in shown
    assert "does not reset the count" in shown.replace("\n", " ")


@pytest.mark.parametrize(("who", "act"), [("vera", "View forecast"), ("thea", "Open top-up")])
def test_a_stopped_top_up_leads_to_a_page_that_the_reader_may_open(
    who, act, request, client_of, account, token
):
    AutoTopUp.objects.create(account=account, enabled=False, consecutive_failures=3)
    browser = client_of(request.getfixturevalue(who))
    html = browser.get("/").content.decode()
    (url,) = re.findall(rf'href="([^"]+)">{act}<span class="visually-hidden">: Automatic', html)
    assert browser.get(url).status_code == 200


@pytest.mark.parametrize(("span", "query"), [("", ""), ("?span=month", "?period=2026-11")])
def test_the_file_has_the_days_of_the_selected_period(
    span, query, client_of, vera, token, time_machine
):
    time_machine.move_to(datetime(2026, 11, 6, 12, tzinfo=UTC), tick=False)
    html = client_of(vera).get(f"/{span}").content.decode()
    assert f'href="/ledger/export/{query}"' in html


def test_a_top_up_that_was_switched_off_here_waits_for_nobody(client_of, vera, account, token):
    AutoTopUp.objects.create(
        account=account, enabled=False, consecutive_failures=3, left_enabled=False, left_at=ago()
    )
    assert "automatic top-up" not in page(client_of, vera)


def test_a_top_up_that_went_off_by_itself_waits_for_a_person(client_of, vera, account, token):
    AutoTopUp.objects.create(account=account, left_at=ago(days=2), found_off_at=ago(days=1))
    assert "No one here switched it off" in page(client_of, vera)


def test_the_greatest_risk_comes_first(client_of, vera, token, make_charge, add_entry):
    add_entry(-96)
    make_charge(42, state="unknown")
    shown = page(client_of, vera)
    assert shown.index("is unknown") < shown.index("spent outside the portal")


def test_less_urgent_items_are_collapsed(client_of, vera, token, make_charge):
    for _ in range(9):
        make_charge(42, state="unknown")
    shown = page(client_of, vera)
    assert "3 more" in shown
    assert shown.count("it was not sent again.") == 9


def test_several_failed_renders_are_one_ask(client_of, vera, token):
    for hours in (1, 2, 3):
        video(token, state="failed", finished_at=ago(hours=hours))
    shown = page(client_of, vera)
    assert "3 renders failed" in shown
    assert "/library/?state=failed" in shown


def test_a_failed_render_that_was_refunded_needs_nobody(client_of, vera, token, make_charge):
    for hours in (1, 2):
        job = video(token, state="failed", started_at=ago(hours=9), finished_at=ago(hours=hours))
    make_charge(10, state="confirmed", job=job, applied_at=job.started_at, refunded_at=ago(hours=1))
    assert "One render failed" in page(client_of, vera)


def test_a_title_is_never_markup(client_of, vera, token, make_charge):
    make_charge(42, state="unknown", job=video(token, title="<script>alert(1)</script>"))
    assert "<script>alert" not in page(client_of, vera)


def test_free_credits_and_those_spent_this_month_are_shown_in_money(
    client_of, vera, account, token, add_entry
):
    add_entry(-96)
    assert "≈" not in page(client_of, vera, "?part=credits")
    Account.objects.update(price_per_credit=Decimal("0.0125"), price_currency="EUR")
    whole = page(client_of, vera)
    for shown, amount in (("credits", "≈ €53.98"), ("spend", "≈ €1.20")):
        assert page(client_of, vera, f"?part={shown}").count("≈") == 1
        assert amount in page(client_of, vera, f"?part={shown}")
        assert amount in whole


def test_a_sum_of_accounts_with_different_prices_is_not_shown_in_money(
    client_of, vera, northlight, account, token, add_entry
):
    add_entry(-96)
    Account.objects.update(price_per_credit=Decimal("0.0125"), price_currency="EUR")
    AccountFactory.create(tenant=northlight.tenant)  # no token: it is in the spend alone
    assert "≈ €53.98" in page(client_of, vera, "?part=credits")
    assert "≈" not in page(client_of, vera, "?part=spend")
