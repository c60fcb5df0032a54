"""The webhooks of a team: added, guessed, limited and removed, and each gets each alert once."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from dashboard.alerts.delivery import webhook
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.models import AlertEvent, AlertWebhook, AuditEvent, Delivery
from dashboard.shared.notices import schedule_deliveries
from tests.dashboard.alerts.conftest import NOON

pytestmark = pytest.mark.postgresql
DELIVERIES = "/alerts/deliveries/"


def page(browser, **headers):
    return browser.get(DELIVERIES, headers=headers).content.decode()


def test_the_webhooks_secret_is_shown_once(thea, webhook_posts, client_of):
    browser = client_of(thea)
    answer = browser.post("/alerts/webhooks/", {"url": webhook_posts.url})
    found = re.search(r"whsec_[\w+/=]+", answer.content.decode())
    assert found
    assert "no-store" in answer.headers["Cache-Control"]
    seen = page(browser)
    assert "whsec_" not in seen
    assert "key=of-the-receiver" not in seen  # the address may hold a secret of the receiver's
    assert "<bdi>127.0.0.1</bdi>" in seen and "Signed JSON, added 20 Nov 2026, 12:00" in seen
    recorded = str(list(AuditEvent.objects.values()))
    assert found[0] not in recorded
    assert "of-the-receiver" not in recorded


def test_an_address_that_is_added_again_gets_a_new_secret_and_format(
    thea, webhook_posts, team_webhook, client_of
):
    browser, old = client_of(thea), bytes(team_webhook.ciphertext)
    assert "whsec_" in browser.post("/alerts/webhooks/", {"url": webhook_posts.url}).text
    hook = AlertWebhook.objects.get()
    assert (hook.pk, hook.message_format) == (team_webhook.pk, "json")
    assert bytes(hook.ciphertext) != old
    browser.post("/alerts/webhooks/", {"url": webhook_posts.url, "message_format": "slack"})
    assert AlertWebhook.objects.get().message_format == "slack"


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://127.0.0.1/x", "https://10.0.0.1/x"])
def test_an_address_that_is_not_connected_to_is_not_taken(thea, client_of, url):
    answer = client_of(thea).post("/alerts/webhooks/", {"url": url})
    assert answer.status_code == 422
    assert not AlertWebhook.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_name_is_looked_up_while_others_may_write(thea, client_of, monkeypatch):
    """On SQLite a transaction keeps all others from writing, and a resolver may be slow."""
    within: list[bool] = []

    def judged(_: object) -> str:
        within.append(connection.in_atomic_block)
        return "198.51.100.7"

    monkeypatch.setattr(webhook, "resolve_webhook_address", judged)
    client_of(thea).post("/alerts/webhooks/", {"url": "https://hooks.example/reelroom"})
    assert within == [False]
    assert AlertWebhook.objects.get().host == "hooks.example"


@pytest.mark.parametrize(
    ("url", "chosen", "stored"),
    [
        ("https://hooks.slack.com/services/T0/B0/x", "", "slack"),
        ("https://discord.com/api/webhooks/1/x", "", "discord"),
        ("https://ptb.discord.com/api/webhooks/1/x", "", "discord"),
        ("https://DiscordApp.com/api/webhooks/1/x", "", "discord"),
        ("https://northlight.webhook.office.com/webhookb2/x", "", "teams"),
        ("https://prod-1.westus.logic.azure.com:443/workflows/x", "", "teams"),
        ("https://x.environment.api.powerplatform.com/powerautomate/x", "", "teams"),
        ("https://discord.com/api/webhooks/1/x/slack", "slack", "slack"),
        ("https://chat.northlight.example/hooks/x", "slack", "slack"),
        ("https://hooks.slack.com.example/x", "", "json"),
        ("https://notdiscord.com/x", "", "json"),
        ("https://hooks.slack.com/x", "json", "json"),
    ],
)
def test_the_format_is_chosen_or_guessed_from_the_host(
    thea, client_of, monkeypatch, url, chosen, stored
):
    monkeypatch.setattr(webhook, "resolve_webhook_address", lambda _: None)
    answer = client_of(thea).post(
        "/alerts/webhooks/", {"url": url, "message_format": chosen}, follow=True
    )
    hook = AlertWebhook.objects.get()
    assert hook.message_format == stored
    assert ("whsec_" in answer.text) == (stored == "json")
    assert f"{hook.get_message_format_display()}, added" in answer.text
    assert AuditEvent.objects.get().after == {"host": hook.host, "format": stored}


def test_a_format_that_does_not_exist_is_refused_and_the_address_kept(
    thea, webhook_posts, client_of
):
    form = {"url": webhook_posts.url, "message_format": "irc"}
    answer = client_of(thea).post("/alerts/webhooks/", form)
    assert answer.status_code == 422
    assert "Choose one from the list." in answer.text
    assert f'value="{webhook_posts.url}"' in answer.text
    assert not AlertWebhook.objects.exists()


def test_a_sixth_webhook_is_refused_and_each_of_five_can_be_set_again(
    thea, webhook_posts, add_webhook, client_of
):
    hooks = [add_webhook(str(number)) for number in range(5)]
    answer = client_of(thea).post("/alerts/webhooks/", {"url": webhook_posts.url})
    assert answer.status_code == 422
    assert "A team has at most 5 webhooks. Remove one first." in answer.text
    assert client_of(thea).post("/alerts/webhooks/", {"url": hooks[0].url}).status_code == 200
    assert AlertWebhook.objects.count() == 5


def test_one_webhook_is_removed(thea, team_webhook, add_webhook, client_of):
    other = add_webhook("other")
    answer = client_of(thea).post(f"/alerts/webhooks/{team_webhook.pk}/removals/")
    assert answer.url == DELIVERIES
    assert AlertWebhook.objects.get() == other
    assert AuditEvent.objects.get().target == str(team_webhook.pk)


def test_the_list_has_the_newest_result_of_each_webhook(
    event, thea, team_webhook, add_webhook, client_of
):
    other = add_webhook("other", message_format="slack", created_at=NOON + timedelta(minutes=1))
    fields: dict[str, Any] = {"channel": "webhook", "address": "127.0.0.1"}
    for subject, hook, state, minutes in (
        ("first", team_webhook, "failed", 0),
        ("second", team_webhook, "delivered", 1),
        ("second", other, "failed", 1),
    ):
        made, _ = AlertEvent.objects.get_or_create(team=thea.team, subject=subject)
        fields |= {"state": state, "attempts": 1, "created_at": NOON + timedelta(minutes=minutes)}
        fields |= {"delivered_at": NOON, "error": "No." if state == "failed" else ""}
        Delivery.objects.create(event=made, webhook=hook, **fields)
    part = page(client_of(thea), **{"HX-Request": "true"}).split('id="webhook-list"')[1]
    assert part.startswith(' hx-swap-oob="true"')
    signed, slack = part.split('<li class="item-row">')[1:]
    assert "Signed JSON" in signed and "Delivered" in signed and "Failed" not in signed
    assert "Slack" in slack and "No. Tried once." in slack


def test_each_of_two_webhooks_of_one_host_gets_an_alert_once(
    event, team_webhook, add_webhook, webhook_posts
):
    add_webhook("other", message_format="slack")
    first, second = schedule_deliveries(event())
    for row in (first, second, first, second):
        attempt_delivery(row.pk)
    assert sorted(webhook_posts.paths) == ["/alerts", "/other"]
    assert set(Delivery.objects.values_list("state")) == {("delivered",)}


def test_one_that_fails_leaves_the_other_delivered(event, team_webhook, add_webhook, webhook_posts):
    add_webhook("gone")
    webhook_posts.path_status["/gone"] = 410
    for row in schedule_deliveries(event()):
        attempt_delivery(row.pk)
    states = Delivery.objects.values_list("webhook__url", "state")
    assert {url.partition("?")[0].rpartition("/")[2]: state for url, state in states} == {
        "alerts": "delivered",
        "gone": "failed",
    }


def test_the_database_refuses_a_second_delivery_to_a_webhook(event, team_webhook, add_webhook):
    fields = {"event": event(), "channel": "webhook", "address": "127.0.0.1"}
    Delivery.objects.create(webhook=team_webhook, **fields)
    Delivery.objects.create(webhook=add_webhook("other"), **fields)
    with pytest.raises(IntegrityError), transaction.atomic():
        Delivery.objects.create(webhook=team_webhook, **fields)


def test_what_was_due_to_a_removed_webhook_goes_to_no_other_of_its_host(
    event, team_webhook, add_webhook, webhook_posts
):
    (row,) = schedule_deliveries(event())
    add_webhook("other")
    team_webhook.delete()
    attempt_delivery(row.pk)
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", webhook.WEBHOOK_REMOVED)
    assert webhook_posts.paths == []


def test_a_delivery_of_the_release_before_goes_to_the_webhook_of_its_host(
    event, team_webhook, webhook_posts
):
    """It stored the host alone."""
    row = Delivery.objects.create(event=event(), channel="webhook", address="127.0.0.1")
    attempt_delivery(row.pk)
    assert webhook_posts.paths == ["/alerts"]


def test_each_failing_webhook_has_its_line_on_the_operations_page(
    event, mira, team_webhook, add_webhook, client_of
):
    for hook in (team_webhook, add_webhook("other")):
        made = event(rule=None, subject=str(hook.pk))
        fields = {"channel": "webhook", "address": hook.host, "state": "failed"}
        Delivery.objects.create(event=made, webhook=hook, **fields)
    html = client_of(mira).get("/operations/").text
    assert html.count("<h3>The webhook of 127.0.0.1 fails</h3>") == 2
    assert html.count("One delivery failed in the last 24 hours.") == 2


def test_a_name_tells_two_webhooks_of_one_host_apart(
    event, mira, webhook_posts, add_webhook, client_of
):
    browser = client_of(mira)
    browser.post("/alerts/webhooks/", {"url": webhook_posts.url, "name": " Night <desk> "})
    hook = AlertWebhook.objects.get()
    assert hook.name == "Night <desk>"
    add_webhook("other", message_format="slack")
    fields = {"channel": "webhook", "address": hook.host, "state": "failed"}
    Delivery.objects.create(event=event(rule=None, subject="x"), webhook=hook, **fields)
    seen = " ".join(page(browser).split())
    assert "<bdi>Night &lt;desk&gt;</bdi>" in seen and "<bdi>127.0.0.1</bdi>" in seen
    assert "127.0.0.1, Signed JSON, added" in seen
    assert "Remove<span" in seen and ": Night &lt;desk&gt;, Signed JSON" in seen
    log = seen.split('id="log"')[1].split("</table>")[0]
    assert "Night &lt;desk&gt;" in log and "127.0.0.1" in log
    assert "The webhook Night &lt;desk&gt; fails" in browser.get("/operations/").text
    browser.post(f"/alerts/webhooks/{hook.pk}/removals/")
    seen = page(browser)
    assert "Night" not in seen and "127.0.0.1" in seen.split('id="log"')[1]
    rows = AuditEvent.objects.filter(action__startswith="webhook.").order_by("happened_at", "pk")
    assert [(row.before or row.after)["name"] for row in rows] == ["Night <desk>"] * 2
    assert "Night &lt;desk&gt;" in browser.get("/audit/").text


def test_an_address_that_is_added_again_keeps_its_name_unless_it_gets_another(
    thea, webhook_posts, client_of
):
    browser = client_of(thea)
    for sent, name in (("Desk", "Desk"), ("", "Desk"), ("Night", "Night")):
        browser.post("/alerts/webhooks/", {"url": webhook_posts.url, "name": sent})
        assert AlertWebhook.objects.get().name == name


@pytest.mark.parametrize("name", ["x" * 61, "a\u202eb"])
def test_a_name_that_cannot_be_is_refused_and_stays_in_its_field(
    name, thea, webhook_posts, client_of
):
    answer = client_of(thea).post("/alerts/webhooks/", {"url": webhook_posts.url, "name": name})
    assert answer.status_code == 422
    assert f'value="{name}"' in answer.text and f'value="{webhook_posts.url}"' in answer.text
    assert not AlertWebhook.objects.exists()
