"""Delivery of an alert by webhook: a message of a chat, or JSON signed as in Standard Webhooks.

    webhook-id: the event's id, the same for each attempt
    webhook-timestamp: Unix time of this attempt in seconds
    webhook-signature: v1, and the base64 of HMAC-SHA256 over "id.timestamp.body"

The key is the base64 part after `whsec_` of a secret that is shown once and stored encrypted. What
may be connected to is decided in dashboard/shared/outgoing_requests.py.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import time
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import httpx

from dashboard.alerts.delivery.chat_messages import CHAT_MESSAGES
from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, AlertWebhook, Delivery, WebhookFormat
from dashboard.shared import outgoing_requests
from dashboard.shared.outgoing_requests import AddressNotAllowed, OutgoingRequestFailed
from proxyapi.credentials import encryption

SIGNING_PREFIX = "whsec_"
TEST_WEBHOOK_TYPE = "alert.test"
HTTP_GONE = 410
WEBHOOK_REMOVED = "The webhook was removed."
URL_UNREADABLE = "This address is not valid. It must start with https:// and name a public host."


def generate_webhook_secret() -> str:
    return SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def encrypt_webhook_secret(hook: AlertWebhook, secret: str) -> None:
    hook.ciphertext = encryption.encrypt(
        secret.encode(), hook.encryption_context(), encryption.load_key_ring()
    )


def post_webhook(delivery: Delivery) -> int:
    """Post the alert and return the response status. Raises `DeliveryFailed`."""
    hook = find_delivery_webhook(delivery)
    if hook is None:
        raise Undeliverable(WEBHOOK_REMOVED)
    url, headers = parse_webhook_url(hook.url), {"content-type": "application/json"}
    if hook.message_format == WebhookFormat.JSON:
        body = webhook_payload(delivery.event)
        headers |= webhook_headers(hook, str(delivery.event_id), int(time.time()), body)
    else:
        body = encode_json(CHAT_MESSAGES[WebhookFormat(hook.message_format)](delivery.event))
    try:
        response = outgoing_requests.send_outgoing_request(
            "POST", url, headers=headers, content=body
        )
    except OutgoingRequestFailed as error:
        raise delivery_error(error) from None
    if response.status == HTTP_GONE:
        raise Undeliverable(
            "The host reported that this address no longer exists (410).", response.status
        )
    if not httpx.codes.is_success(response.status):
        raise DeliveryFailed(f"The host responded with {response.status}.", response.status)
    return response.status


def find_delivery_webhook(delivery: Delivery) -> AlertWebhook | None:
    """Return the webhook of the delivery, None if it was removed."""
    hooks = AlertWebhook.objects.filter(team=delivery.event.team_id).order_by("created_at", "pk")
    if delivery.webhook_id:
        return hooks.filter(pk=delivery.webhook_id).first()
    # A release in which a team had one webhook did not store which it was.
    return next((hook for hook in hooks if hook.host == delivery.address), None)


def delivery_error(error: OutgoingRequestFailed) -> DeliveryFailed:
    kind = Undeliverable if isinstance(error, AddressNotAllowed) else DeliveryFailed
    return kind(str(error))


def webhook_payload(event: AlertEvent) -> bytes:
    payload = {
        "id": str(event.pk),
        "type": ALERT_KINDS[event.rule.kind].webhook_type if event.rule else TEST_WEBHOOK_TYPE,
        "happened_at": event.happened_at.isoformat(),
        "team": event.team.name,
        "title": event.title,
        "text": event.text,
        "threshold": f"{event.threshold.normalize():f}",
        "url": event.link,
    }
    return encode_json(payload)


def encode_json(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode()


def webhook_headers(hook: AlertWebhook, id: str, at: int, body: bytes) -> dict[str, str]:
    secret = encryption.decrypt(
        bytes(hook.ciphertext), hook.encryption_context(), encryption.load_key_ring()
    ).decode()
    key = base64.b64decode(secret.removeprefix(SIGNING_PREFIX))
    digest = hmac.new(key, f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def parse_webhook_url(address: str) -> httpx.URL:
    """Parse the URL. Raises `Undeliverable` if its form alone rules it out."""
    try:
        return outgoing_requests.parse_outgoing_url(address)
    except AddressNotAllowed:
        raise Undeliverable(URL_UNREADABLE) from None


def resolve_webhook_address(url: httpx.URL) -> IPv4Address | IPv6Address:
    """The IP address to connect to. Raises `DeliveryFailed`."""
    try:
        return outgoing_requests.resolve_outgoing_address(url)
    except OutgoingRequestFailed as error:
        raise delivery_error(error) from None
