"""Delivery of an alert by webhook: JSON, signed as in Standard Webhooks.

    webhook-id: the event's id, the same for each attempt
    webhook-timestamp: Unix time of this attempt in seconds
    webhook-signature: v1, and the base64 of HMAC-SHA256 over "id.timestamp.body"

The key is the base64 part after `whsec_` of a secret that is shown once and stored encrypted. The
URL is user input and not trusted: only public hosts on https port 443 are connected to, every
resolved address is checked, the connection uses the checked address, and redirects are not
followed. The demo also allows loopback addresses.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Timer

import httpx
from django.conf import settings

from dashboard.alerts.delivery.errors import DeliveryFailed, Undeliverable
from dashboard.alerts.kinds import ALERT_KINDS
from dashboard.models import AlertEvent, AlertWebhook, Delivery
from proxyapi.credentials import encryption
from proxyapi.media_proxy import is_public_address, url_port
from proxyapi.upstream.tls import shared_ssl_context

SIGNING_PREFIX = "whsec_"
TEST_WEBHOOK_TYPE = "alert.test"
REQUEST_TIMEOUT = httpx.Timeout(10, connect=5)  # seconds for each read
MAX_REQUEST_S = 15.0  # for the whole request: a host may send its headers byte by byte, for days
HTTP_GONE = 410
WEBHOOK_REMOVED = "The webhook was removed."
URL_UNREADABLE = "This address is not valid. It must start with https:// and name a public host."
HOST_NOT_PUBLIC = "The host is not public, so no connection was made."
HOST_NOT_RESOLVED = "The host name cannot be resolved."


def generate_webhook_secret() -> str:
    return SIGNING_PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def encrypt_webhook_secret(hook: AlertWebhook, secret: str) -> None:
    hook.ciphertext = encryption.encrypt(
        secret.encode(), hook.encryption_context(), encryption.load_key_ring()
    )


def post_webhook(delivery: Delivery) -> int:
    """Post the alert and return the response status. Raises `DeliveryFailed`."""
    hook = AlertWebhook.objects.filter(team=delivery.event.team_id).first()
    if hook is None:
        raise Undeliverable(WEBHOOK_REMOVED)
    url, body = parse_webhook_url(hook.url), webhook_payload(delivery.event)
    pinned = url.copy_with(host=str(resolve_webhook_address(url)), fragment=None)
    headers = webhook_headers(hook, str(delivery.event_id), int(time.time()), body)
    headers |= {"host": url.netloc.decode("ascii"), "content-type": "application/json"}
    try:
        with (
            httpx.Client(
                verify=shared_ssl_context(),
                timeout=REQUEST_TIMEOUT,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            close_client_after(MAX_REQUEST_S, client),
            client.stream(
                *("POST", pinned),
                content=body,
                headers={**headers, "user-agent": "reelroom"},
                extensions={"sni_hostname": url.host},
            ) as response,
        ):
            status = response.status_code
    except (httpx.HTTPError, OSError) as error:
        raise DeliveryFailed(f"The host did not respond ({type(error).__name__}).") from None
    if status == HTTP_GONE:
        raise Undeliverable("The host reported that this address no longer exists (410).", status)
    if not httpx.codes.is_success(status):
        raise DeliveryFailed(f"The host responded with {status}.", status)
    return status


@contextmanager
def close_client_after(seconds: float, client: httpx.Client) -> Iterator[None]:
    """Close the client's connections after `seconds`, even while data arrives."""
    timer = Timer(seconds, client.close)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def webhook_payload(event: AlertEvent) -> bytes:
    payload = {
        "id": str(event.pk),
        "type": ALERT_KINDS[event.rule.kind].webhook_type if event.rule else TEST_WEBHOOK_TYPE,
        "happened_at": event.happened_at.isoformat(),
        "team": event.team.name,
        "title": event.title,
        "text": event.text,
        "threshold": f"{event.threshold.normalize():f}",
        "url": f"{settings.PORTAL_URL}{event.url or '/'}",
    }
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
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        raise Undeliverable(URL_UNREADABLE) from None
    is_public = (url.scheme, url_port(url)) == ("https", 443)
    if not url.host or url.userinfo or not (is_public or is_local_demo_url(url)):
        raise Undeliverable(URL_UNREADABLE)
    return url


def is_local_demo_url(url: httpx.URL) -> bool:
    """True on the demo for any port except that of the sandbox itself."""
    sandbox_url = httpx.URL(settings.VIDEO_API_BASE_URL)
    is_http = url.scheme in ("http", "https") and bool(url_port(url))
    return settings.VIDEO_API_IS_SANDBOX and is_http and url_port(url) != url_port(sandbox_url)


def resolve_webhook_address(url: httpx.URL) -> IPv4Address | IPv6Address:
    """The IP address to connect to. One disallowed address among several refuses the host."""
    try:
        entries = socket.getaddrinfo(url.host, url_port(url), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise DeliveryFailed(HOST_NOT_RESOLVED) from None
    addresses = [ip_address(str(entry[4][0]).partition("%")[0]) for entry in entries]
    if not addresses or not all(is_allowed_webhook_address(url, address) for address in addresses):
        raise Undeliverable(HOST_NOT_PUBLIC)
    return addresses[0]


def is_allowed_webhook_address(url: httpx.URL, address: IPv4Address | IPv6Address) -> bool:
    if is_local_demo_url(url) and address.is_loopback:
        return True
    return (url.scheme, url_port(url)) == ("https", 443) and is_public_address(address)
