"""An alert as the JSON that incoming webhooks of Slack, Discord and Microsoft Teams accept.

Titles and texts contain names that members typed: what a chat would read as a mention or as the
markup of a link is escaped.
"""

from __future__ import annotations

import re
from typing import Any

from dashboard.models import AlertEvent, WebhookFormat

FORMAT_DOMAINS = {
    "hooks.slack.com": WebhookFormat.SLACK,
    "discord.com": WebhookFormat.DISCORD,
    "discordapp.com": WebhookFormat.DISCORD,
    "webhook.office.com": WebhookFormat.TEAMS,
    "logic.azure.com": WebhookFormat.TEAMS,
    "powerplatform.com": WebhookFormat.TEAMS,
}
LINK_LABEL = "View in Reelroom"
DISCORD_MAX_CHARS = 2000
DISCORD_MARKUP_RE = re.compile(r"([\\*_~`|<>\[\]#])")
SLACK_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def guess_webhook_format(host: str) -> WebhookFormat:
    """Return the format of the chat that the host or its parent domain belongs to, or JSON."""
    for domain, message_format in FORMAT_DOMAINS.items():
        if host == domain or host.endswith(f".{domain}"):
            return message_format
    return WebhookFormat.JSON


def slack_message(event: AlertEvent) -> dict[str, Any]:
    title, text, link = (
        part.translate(SLACK_ENTITIES) for part in (event.title, event.text, event.link)
    )
    return {"text": join_lines(f"*{title}*", text, f"<{link}|{LINK_LABEL}>")}


def discord_message(event: AlertEvent) -> dict[str, Any]:
    """The angle brackets keep Discord from adding a preview of the sign-in page."""
    title, text = (DISCORD_MARKUP_RE.sub(r"\\\1", part) for part in (event.title, event.text))
    title, link = f"**{title}**", f"<{event.link}>"
    room = DISCORD_MAX_CHARS - len(join_lines(title, link)) - 1
    return {"content": join_lines(title, text[:room], link), "allowed_mentions": {"parse": []}}


def teams_message(event: AlertEvent) -> dict[str, Any]:
    """An Adaptive Card. The runs of a RichTextBlock, unlike a TextBlock, have no Markdown."""
    runs = [{"type": "TextRun", "text": event.title, "weight": "Bolder"}]
    if event.text:
        runs.append({"type": "TextRun", "text": event.text})
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "body": [{"type": "RichTextBlock", "inlines": [run]} for run in runs],
        "actions": [{"type": "Action.OpenUrl", "title": LINK_LABEL, "url": event.link}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}


def join_lines(*lines: str) -> str:
    return "\n".join(line for line in lines if line)


CHAT_MESSAGES = {
    WebhookFormat.SLACK: slack_message,
    WebhookFormat.DISCORD: discord_message,
    WebhookFormat.TEAMS: teams_message,
}
