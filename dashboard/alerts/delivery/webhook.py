"""Delivery of an alert or an event by webhook: a message of a chat, or JSON signed as in Standard
Webhooks.

    webhook-id: the event's id, the same for each attempt
    webhook-timestamp: Unix time of this attempt in seconds
    webhook-signature: v1, and the base64 of HMAC-SHA256 over "id.timestamp.body"; while the secret
        is rotated, that of the secret before as well

The secret is shown once and stored encrypted. A webhook that fails for days is disabled. What may
be connected to is decided in dashboard/shared/outgoing_requests.py.
"""

from __future__ import annotations

import base64
import json
import secrets
from datetime import datetime, timedelta
from ipaddress import IPv4Address, IPv6Address
from typing import Any

import httpx
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from standardwebhooks import Webhook

from dashboard.alerts.delivery.chat_messages import CHAT_MESSAGES
from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, AlertWebhook, Delivery, WebhookFormat
from dashboard.shared import outgoing_requests
from dashboard.shared.budget_usage import load_money_managers
from dashboard.shared.notices import notify_users
from dashboard.shared.outgoing_requests import AddressNotAllowed, OutgoingRequestFailed
from proxyapi.credentials import encryption

SIGNING_PREFIX = "whsec_"
TEST_WEBHOOK_TYPE = "alert.test"
HTTP_GONE = 410
DISABLED_AFTER = timedelta(days=3)  # of failures
BOTH_SECRETS_SIGN_FOR = timedelta(days=1)
WEBHOOK_REMOVED = "The webhook was removed."
WEBHOOK_DISABLED = "The webhook is disabled."
DISABLED_TITLE = "The webhook {name} was disabled"
DISABLED_TEXT = "It failed for three days. Nothing is sent to it until somebody enables it again."
GONE_TEXT = "Its host answered that the address no longer exists (410)."
URL_UNREADABLE = "This address is not valid. It must start with https:// and name a public host."


def generate_webhook_secret() -> str:
    return SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def encrypt_webhook_secret(hook: AlertWebhook, secret: str) -> None:
    """Set the secret; two with a space between them while it is rotated, the new one first."""
    hook.ciphertext = encryption.encrypt(
        secret.encode(), hook.encryption_context(), encryption.load_key_ring()
    )


def post_webhook(delivery: Delivery) -> int:
    """Post the alert and return the response status. Raises `DeliveryFailed`."""
    hook = find_delivery_webhook(delivery)
    if hook is None:
        raise Undeliverable(WEBHOOK_REMOVED)
    if hook.disabled_at is not None:
        raise Undeliverable(WEBHOOK_DISABLED)
    url, headers = parse_webhook_url(hook.url), {"content-type": "application/json"}
    if hook.message_format == WebhookFormat.JSON:
        body = webhook_payload(delivery.event)
        id = delivery.event.api_event_id or delivery.event_id
        headers |= webhook_headers(hook, str(id), timezone.now(), body)
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
    if event.api_event is not None:
        return encode_json(event.api_event.content)
    payload: dict[str, Any] = {
        "id": str(event.pk),
        "type": ALERT_KINDS[event.rule.kind].webhook_type if event.rule else TEST_WEBHOOK_TYPE,
        "happened_at": event.happened_at.isoformat(),
        "team": event.team.name,
        "title": event.title,
        "text": event.text,
        "threshold": f"{event.threshold.normalize():f}",
        "url": event.link,
    }
    if event.rule is None:
        payload["test"] = True
    return encode_json(payload)


def encode_json(payload: dict[str, Any]) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode()


def webhook_headers(hook: AlertWebhook, id: str, at: datetime, body: bytes) -> dict[str, str]:
    both = decrypt_webhook_secrets(hook)
    is_rotated = hook.previous_until is not None and hook.previous_until > at
    used = both if is_rotated else both[:1]
    return {
        "webhook-id": id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(Webhook(one).sign(id, at, body.decode()) for one in used),
    }


def decrypt_webhook_secrets(hook: AlertWebhook) -> list[str]:
    """The secret, and the one before if it was rotated."""
    ring, context = encryption.load_key_ring(), hook.encryption_context()
    return encryption.decrypt(bytes(hook.ciphertext), context, ring).decode().split()


def record_webhook_success(delivery: Delivery) -> None:
    if delivery.webhook_id is not None:
        failing = AlertWebhook.objects.exclude(failing_since=None)
        failing.filter(pk=delivery.webhook_id).update(failing_since=None)


@transaction.atomic
def record_webhook_failure(delivery: Delivery, status: int | None) -> None:
    """Note a failed attempt, and disable a webhook that failed for days, or whose address is gone,
    with a notice to who manages it."""
    if delivery.webhook_id is None:
        return
    now = timezone.now()
    working = AlertWebhook.objects.filter(pk=delivery.webhook_id, disabled_at=None)
    working.filter(failing_since=None).update(failing_since=now)
    if status != HTTP_GONE:
        working = working.filter(failing_since__lte=now - DISABLED_AFTER)
    hook = working.select_related("team").first()
    if hook is not None and working.update(disabled_at=now):
        notify_users(
            hook.team,
            [member.user for member in load_money_managers(hook.team)],
            title=DISABLED_TITLE.format(name=hook.name or hook.host),
            text=GONE_TEXT if status == HTTP_GONE else DISABLED_TEXT,
            url=reverse("alert-deliveries"),
        )


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
