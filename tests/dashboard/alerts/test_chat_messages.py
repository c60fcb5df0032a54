"""What Slack, Discord and Teams get of an alert: no signature, and no markup of others."""

from __future__ import annotations

import json

import pytest

from dashboard.alerts.delivery.chat_messages import DISCORD_MAX_CHARS, discord_message
from dashboard.alerts.delivery.queue import attempt_delivery
from dashboard.models import AlertEvent, Delivery
from dashboard.shared.notices import schedule_deliveries

TITLE = "R&D <!channel> **free** [x](https://x.example)"


@pytest.fixture
def received(event, add_webhook, webhook_posts, settings):
    """Deliver an alert in a format; return the headers and the body that arrived."""
    settings.PORTAL_URL = "https://reelroom.example"

    def deliver(message_format, **fields):
        add_webhook("alerts", message_format=message_format)
        (row,) = schedule_deliveries(event(**fields))
        attempt_delivery(row.pk)
        assert Delivery.objects.get().state == "delivered"
        ((headers, body),) = webhook_posts
        return headers, json.loads(body)

    return deliver


@pytest.mark.parametrize("message_format", ["slack", "discord", "teams"])
def test_a_chat_gets_no_signature(received, message_format):
    headers, _ = received(message_format)
    assert headers["content-type"] == "application/json"
    assert not [name for name in headers if name.startswith("webhook-")]


def test_slack_gets_title_text_and_link_with_its_signs_escaped(received):
    _, message = received("slack", title=TITLE, text="1 < 2", url="/top-up/?account=5&x=1")
    assert message == {
        "text": "*R&amp;D &lt;!channel&gt; **free** [x](https://x.example)*\n1 &lt; 2\n"
        "<https://reelroom.example/top-up/?account=5&amp;x=1|View in Reelroom>"
    }


def test_discord_gets_title_text_and_link_and_mentions_nobody(received):
    _, message = received("discord", title=TITLE, text="@everyone <@1> a_b")
    assert message == {
        "content": r"**R&D \<!channel\> \*\*free\*\* \[x\](https://x.example)**"
        "\n" + r"@everyone \<@1\> a\_b" + "\n<https://reelroom.example/budgets/>",
        "allowed_mentions": {"parse": []},
    }


def test_a_text_that_is_too_long_for_discord_is_cut_and_keeps_its_link():
    event = AlertEvent(title="Low", text="*" * DISCORD_MAX_CHARS, url="/budgets/")
    content = discord_message(event)["content"]
    assert len(content) == DISCORD_MAX_CHARS
    assert content.endswith("/budgets/>")


def test_teams_gets_a_card_with_a_button_and_texts_without_markdown(received):
    _, message = received("teams", title=TITLE, text="a *b*")
    assert message["type"] == "message"
    (attachment,) = message["attachments"]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    card = attachment["content"]
    assert {block["type"] for block in card["body"]} == {"RichTextBlock"}
    assert [block["inlines"][0]["text"] for block in card["body"]] == [TITLE, "a *b*"]
    assert [action["url"] for action in card["actions"]] == ["https://reelroom.example/budgets/"]


@pytest.mark.parametrize("message_format", ["slack", "discord", "teams"])
def test_an_alert_without_a_text_leaves_no_empty_line(received, message_format):
    _, message = received(message_format, title="Low", text="", url="")
    assert "\\n\\n" not in json.dumps(message) and '""' not in json.dumps(message)
    assert "https://reelroom.example/" in json.dumps(message)
