"""Rules of Northlight, an account of theirs, and webhooks that somebody listens on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from dashboard.alerts.delivery import webhook
from dashboard.models import AlertEvent, AlertKind, AlertRule, AlertWebhook, Membership, Team
from proxyapi.models import Account, Token
from tests.factories import AccountFactory, ChargeFactory, JobFactory, TokenFactory

Browser = Callable[[Membership], Any]
NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)  # a Friday


@pytest.fixture(autouse=True)
def _now(time_machine):
    time_machine.move_to(NOON, tick=False)


@pytest.fixture
def account(northlight: Team, priya: Membership) -> Account:
    """4,318 credits, opened by Priya's token."""
    account = AccountFactory.create(tenant=northlight.tenant, balance_as_of=NOON)
    TokenFactory.create(account=account, owner=priya.user)
    return account


@pytest.fixture
def token(account: Account) -> Token:
    return account.tokens.get()


@pytest.fixture
def rule(northlight: Team) -> Callable[..., AlertRule]:
    def make(kind: AlertKind, threshold: int = 0, **fields: Any) -> AlertRule:
        return AlertRule.objects.create(
            team=northlight, kind=kind, threshold=Decimal(threshold), **fields
        )

    return make


@pytest.fixture
def event(northlight: Team, rule: Callable[..., AlertRule]) -> Callable[..., AlertEvent]:
    def make(**fields: Any) -> AlertEvent:
        usual: dict[str, Any] = {
            "subject": "x",
            "state": "late",
            "happened_at": NOON + timedelta(minutes=1),
            "title": "900 cr are free, less than 1,000",
            "text": "On Northlight Films.",
            "threshold": 1000,
            "url": "/budgets/",
        }
        if "rule" not in fields:
            usual["rule"] = rule(AlertKind.BALANCE, 1000)
        return AlertEvent.objects.create(team=northlight, **{**usual, **fields})

    return make


class WebhookPosts(list[tuple[dict[str, str], bytes]]):
    """What came to the webhook: headers in small letters, and the body. `status` is answered, or
    that of the path."""

    status = 204
    url = ""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.path_status: dict[str, int] = {}


@pytest.fixture
def webhook_posts() -> Iterator[WebhookPosts]:
    got = WebhookPosts()

    class Listener(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            path = self.path.partition("?")[0]
            got.paths.append(path)
            self.send_response(got.path_status.get(path, got.status))
            self.send_header("location", "http://127.0.0.1:1/elsewhere")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Listener) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        got.url = f"http://127.0.0.1:{server.server_port}/alerts?key=of-the-receiver"
        yield got
        server.shutdown()
        thread.join()


@pytest.fixture
def secret() -> str:
    return webhook.generate_webhook_secret()


@pytest.fixture
def add_webhook(
    northlight: Team, webhook_posts: WebhookPosts, secret: str
) -> Callable[..., AlertWebhook]:
    """Another address of the same host, named by its path."""

    def make(path: str, **fields: Any) -> AlertWebhook:
        url = webhook_posts.url.replace("/alerts?", f"/{path}?")
        made = AlertWebhook(team=northlight, url=url, **fields)
        webhook.encrypt_webhook_secret(made, secret)
        made.save()
        return made

    return make


@pytest.fixture
def team_webhook(add_webhook: Callable[..., AlertWebhook]) -> AlertWebhook:
    return add_webhook("alerts")


@pytest.fixture
def charge(token):
    def make(**fields):
        job = JobFactory.create(account=token.account, token=token, title="Who owns the Moon?")
        return ChargeFactory.create(**{"job": job, "sent_at": NOON, **fields})

    return make
