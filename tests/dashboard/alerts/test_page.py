"""The alerts page: history and read marks, rules, tests, the log."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest

from dashboard.alerts.actions import alert_rule_version
from dashboard.alerts.default_rules import create_default_rules
from dashboard.models import AlertKind, AlertRule, AuditEvent, Delivery, Role
from dashboard.shared.shell import build_app_shell
from tests.dashboard.alerts.conftest import NOON
from tests.factories import MembershipFactory

HTMX = {"HX-Request": "true"}
DELIVERIES = "/alerts/deliveries/"


def page(browser, url="/alerts/", **headers):
    return browser.get(url, headers=headers).content.decode()


@pytest.fixture
def rules(northlight):
    create_default_rules(northlight)
    return {(rule.kind, int(rule.threshold)): rule for rule in northlight.alert_rules.all()}


def form(rules, **changed):
    """What the page would post, with some fields changed; None leaves a box empty."""
    fields: dict[str, str | None] = {}
    for (_, threshold), rule in rules.items():
        fields |= {f"{way}-{rule.pk}": "on" for way in ("active", "by_email", "by_webhook")}
        fields |= {
            f"threshold-{rule.pk}": str(threshold),
            f"drawn-{rule.pk}": alert_rule_version(rule),
        }
    fields |= changed
    return {name: value for name, value in fields.items() if value is not None}


def test_everybody_reads_what_is_theirs(event, thea, priya, luca, client_of):
    event(title="For the team", rule=None)
    event(title="About Priya", member=priya.user, for_money=True, rule=None)
    event(title="For Priya alone", member=priya.user, rule=None)
    event(title="For who decides", for_money=True, rule=None)
    for member, expected in (
        (thea, ["For the team", "About Priya", "For who decides"]),
        (priya, ["For the team", "About Priya", "For Priya alone"]),
        (luca, ["For the team"]),
    ):
        seen = page(client_of(member))
        titles = ["For the team", "About Priya", "For Priya alone", "For who decides"]
        assert [title for title in titles if title in seen] == expected
        assert build_app_shell(member).unread == len(expected)


@pytest.mark.parametrize("url", ["/top-up/?account=5", "/budgets/"])
def test_an_alert_leads_to_a_page_that_the_reader_may_open(url, event, thea, vera, client_of):
    event(title="480 cr are free", rule=None, url=url)
    assert f'href="{url}"' in page(client_of(thea))
    assert f'href="{url.replace("top-up", "forecast")}"' in page(client_of(vera))


def test_another_teams_alerts_are_not_shown(event, otto, client_of):
    event(title="Northlight's own")
    assert "Northlight" not in page(client_of(otto))
    assert build_app_shell(otto).unread == 0


def test_alerts_from_before_a_member_joined_are_not_unread_for_them(event, priya):
    event(happened_at=NOON - timedelta(days=1))
    assert build_app_shell(priya).unread == 0


def test_read_is_read_for_oneself(event, priya, luca, client_of, time_machine):
    event(title="900 cr are free")
    time_machine.shift(120)
    browser = client_of(priya)
    assert "1 unread." in page(browser)
    assert browser.post("/alerts/read/").url == "/alerts/"
    assert "All read." in page(browser)
    luca.refresh_from_db()
    assert build_app_shell(luca).unread == 1


def test_the_bell_fetches_its_number(event, priya, client_of):
    event()
    bell = page(client_of(priya), "/alerts/unread/")
    assert re.search(r'id="bell-wide" hx-swap-oob="true">\s*1\s*<', bell)
    assert re.search(r'id="bell-phone" hx-swap-oob="true">\s*1\s*<', bell)


def test_titles_are_escaped(event, priya, client_of):
    event(title="<b>bold</b>", text="<i>it</i>")
    seen = page(client_of(priya))
    assert "<b>bold" not in seen
    assert "<i>it" not in seen


def test_only_who_decides_sees_rules_and_log(event, rules, thea, priya, client_of):
    Delivery.objects.create(event=event(rule=None), channel="email", address="thea@x.example")
    log = page(client_of(thea), DELIVERIES)
    assert "thea@x.example" in log and "Send test" in log
    tabs = page(client_of(thea))
    assert 'href="/alerts/rules/"' in tabs and f'href="{DELIVERIES}"' in tabs
    assert "thea@x.example" not in tabs
    seen = page(client_of(priya))
    assert "/alerts/rules/" not in seen and DELIVERIES not in seen


@pytest.mark.parametrize("url", ["/alerts/", "/alerts/rules/", DELIVERIES])
def test_the_current_tab_is_marked(url, rules, thea, client_of):
    tabs = page(client_of(thea), url).split('aria-label="Alerts">')[1].split("</nav>")[0]
    assert re.findall(r'<a href="([^"]+)" aria-current="page">', tabs) == [url]


def test_an_alert_is_one_line_and_its_details_open_below(event, priya, client_of):
    made = event(title="900 cr are free", text="1,006 cr as of 14:21.", rule=None)
    row = page(client_of(priya)).split(f'<details class="alert-row" id="alert-{made.pk}">')[1]
    line, details = row.split("</summary>")[0], row.split("</summary>")[1].split("</details>")[0]
    assert "900 cr are free" in line and "1,006 cr as of 14:21." in line and "12:01" in line
    assert "20 Nov 2026, 12:01" in details and 'href="/budgets/"' in details


def test_the_history_fetches_itself_alone(event, priya, client_of):
    event(rule=None)
    part = page(client_of(priya), **HTMX)
    assert part.lstrip().startswith('<section class="card card--flush" id="alert-history"')
    assert "<html" not in part


def test_rules_are_saved_together_with_what_they_were(rules, thea, client_of):
    balance, books = rules[AlertKind.BALANCE, 1000], rules[AlertKind.RECONCILIATION, 0]
    changed = {f"threshold-{balance.pk}": "1,200", f"by_email-{books.pk}": None}
    assert client_of(thea).post("/alerts/rules/", form(rules, **changed)).url == "/alerts/rules/"
    assert AlertRule.objects.get(pk=balance.pk).threshold == 1200
    books.refresh_from_db()
    assert (books.by_email, books.by_webhook, books.active) == (False, True, True)
    event = AuditEvent.objects.get(target=str(balance.pk))
    assert (event.before["threshold"], event.after["threshold"]) == ("1000", "1200")
    assert AuditEvent.objects.count() == 2


@pytest.mark.parametrize(
    ("kind", "threshold", "typed"),
    [
        *((AlertKind.BALANCE, 1000, typed) for typed in ("0", "-1", "1.5", "1e3", "", "10000000")),
        *(
            (AlertKind.FORECAST, 7, "61"),
            (AlertKind.TOP_UP_FAILED, 1, "4"),
            (AlertKind.UNKNOWN_CHARGE, 15, "1441"),
        ),
        (AlertKind.BALANCE, 1000, "200"),  # there is one
    ],
)
def test_only_thresholds_that_make_sense_are_saved(rules, thea, client_of, kind, threshold, typed):
    rule = rules[kind, threshold]
    answer = client_of(thea).post("/alerts/rules/", form(rules, **{f"threshold-{rule.pk}": typed}))
    assert answer.status_code == 422
    assert 'aria-invalid="true"' in answer.content.decode()
    rule.refresh_from_db()
    assert rule.threshold == threshold
    assert not AuditEvent.objects.exists()


@pytest.mark.parametrize(
    ("first", "second"), [("200", "50"), ("3000", "1000"), ("1500", "1000")], ids=str
)
def test_thresholds_move_on_together_though_one_takes_anothers_place(
    rules, thea, client_of, first, second
):
    balances = [rules[AlertKind.BALANCE, 1000], rules[AlertKind.BALANCE, 200]]
    moved = dict(zip((f"threshold-{rule.pk}" for rule in balances), (first, second), strict=True))
    assert client_of(thea).post("/alerts/rules/", form(rules, **moved)).url == "/alerts/rules/"
    for rule in balances:
        rule.refresh_from_db()
    assert [rule.threshold for rule in balances] == [int(first), int(second)]


def test_an_older_page_changes_only_what_was_changed_in_it(rules, thea, client_of):
    """Somebody else saved another threshold, and made one more rule, since it was drawn."""
    balance, books = rules[AlertKind.BALANCE, 1000], rules[AlertKind.RECONCILIATION, 0]
    drawn = form(rules, **{f"by_email-{books.pk}": None})
    AlertRule.objects.filter(pk=balance.pk).update(threshold=2000)
    AlertRule.objects.create(team=thea.team, kind=AlertKind.BALANCE, threshold=300)
    assert client_of(thea).post("/alerts/rules/", drawn).url == "/alerts/rules/"
    balance.refresh_from_db()
    books.refresh_from_db()
    assert (balance.threshold, books.by_email) == (2000, False)
    assert AlertRule.objects.get(threshold=300).active


def test_what_two_changed_at_once_is_shown_and_saved_when_it_is_meant(rules, thea, client_of):
    balance, browser = rules[AlertKind.BALANCE, 1000], client_of(thea)
    drawn = form(rules, **{f"threshold-{balance.pk}": "1500"})
    AlertRule.objects.filter(pk=balance.pk).update(threshold=2000)
    answer = browser.post("/alerts/rules/", drawn)
    html = answer.content.decode()
    assert answer.status_code == 422
    assert "This was changed in another window or by somebody else." in html
    assert "from 2,000, on" in html
    assert 'value="1500"' in html
    balance.refresh_from_db()
    assert balance.threshold == 2000
    again = drawn | {f"drawn-{balance.pk}": alert_rule_version(balance)}
    assert f'value="{again[f"drawn-{balance.pk}"]}"' in html
    assert browser.post("/alerts/rules/", again).url == "/alerts/rules/"
    balance.refresh_from_db()
    assert balance.threshold == 1500


def test_a_rule_of_another_team_is_not_touched(rules, otto, client_of):
    rule = rules[AlertKind.BALANCE, 1000]
    client_of(otto).post("/alerts/rules/", form(rules, **{f"threshold-{rule.pk}": "1200"}))
    rule.refresh_from_db()
    assert rule.threshold == 1000


@pytest.mark.parametrize(
    ("kind", "threshold", "status"),
    [
        *(("balance", "500", 302), ("balance", "1000", 422), ("balance", "0", 422)),
        *(("top_up_failed", "3", 302), ("top_up_failed", "4", 422), ("approval_request", "1", 422)),
    ],
)
def test_one_more_threshold(rules, thea, client_of, kind, threshold, status):
    answer = client_of(thea).post("/alerts/rules/new/", {"kind": kind, "threshold": threshold})
    assert answer.status_code == status
    assert AlertRule.objects.count() == len(rules) + (status == 302)


def test_a_test_goes_every_way_and_to_its_sender_alone(
    mira, thea, team_webhook, add_webhook, client_of
):
    other = add_webhook("other")
    html = client_of(thea).post("/alerts/tests/", follow=True).content.decode()
    assert "Test alert sent by e-mail and webhook." in html
    assert set(Delivery.objects.values_list("channel", "address", "webhook")) == {
        ("email", "thea@northlight.example", None),
        ("webhook", "127.0.0.1", team_webhook.pk),
        ("webhook", "127.0.0.1", other.pk),
    }
    assert "Thea sent a test alert" in html


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["Waiting"]),
        ({"state": "delivered", "attempts": 1, "delivered_at": NOON}, ["Delivered"]),
        ({"state": "delivered", "attempts": 3, "delivered_at": NOON}, ["12:00, attempt 3"]),
        ({"attempts": 1, "error": "It answered 500."}, ["Retrying", "500. Next attempt 12:00."]),
        ({"attempts": 6, "state": "failed", "error": "No."}, ["Failed", "No. Tried 6 times."]),
    ],
)
def test_the_log_says_how_each_went(event, thea, client_of, fields, expected):
    Delivery.objects.create(event=event(), channel="webhook", address="x.example", **fields)
    log = page(client_of(thea), DELIVERIES, **HTMX)
    assert "<html" not in log
    assert all(words in log for words in expected)


@pytest.mark.parametrize("url", ["/alerts/", "/alerts/rules/", DELIVERIES])
def test_a_tab_takes_few_queries(
    url, event, rules, add_webhook, thea, client_of, django_assert_max_num_queries
):
    for number in range(20):
        made = event(rule=None, subject=str(number))
        Delivery.objects.create(event=made, channel="email", address="x@x.example")
    for number in range(3):
        hook = add_webhook(str(number))
        Delivery.objects.create(event=made, channel="webhook", address=hook.host, webhook=hook)
    browser = client_of(thea)
    page(browser, url)
    with django_assert_max_num_queries(13):
        page(browser, url)


def test_without_a_rule_it_offers_one_and_no_empty_table(thea, client_of):
    html = page(client_of(thea), "/alerts/rules/")
    assert "No alert rules yet. Add a threshold" in html
    assert "<th scope" not in html[html.index("rules-title") : html.index("No alert rules yet")]


def test_a_test_is_sent_three_times_a_minute_by_a_member_and_six_by_a_team(
    thea, mira, northlight, client_of
):
    browser, deliveries = client_of(thea), Delivery.objects.filter(channel="email")
    for _ in range(8):
        assert browser.post("/alerts/tests/").url == DELIVERIES
    assert deliveries.count() == 3
    sentence = "Too many tests were sent within a minute. Nothing was sent. Try again in"
    assert sentence in page(browser, DELIVERIES)
    third = MembershipFactory(team=northlight, role=Role.TREASURER)
    for member in (mira, mira, third, third):
        client_of(member).post("/alerts/tests/")
    assert deliveries.count() == 6
