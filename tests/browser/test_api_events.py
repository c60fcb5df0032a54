"""What a script does in a running portal arrives as a stream and as a webhook, within moments."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import httpx
from standardwebhooks import Webhook

from tests.browser.member_page import MemberPage
from tests.browser.portal_process import LivePortal
from tests.browser.sandbox_control import SandboxControl
from tests.browser.test_api_page import CREATE_KEY, SHELL, run

ADD_WEBHOOK = """
from dashboard.alerts.actions import add_webhook
from dashboard.models import Membership
by = Membership.objects.select_related("team__tenant", "user").get(user__email={email!r})
print(add_webhook(by=by, url={url!r}, event_types=["clip.completed"]))
"""
REVOKE_KEY = """
from django.utils import timezone
from dashboard.models import AlertWebhook
from proxyapi.models import ApiKey
ApiKey.objects.filter(name="events").update(revoked_at=timezone.now())
AlertWebhook.objects.filter(url={url!r}).delete()  # nobody listens after the test
"""
Posts = Queue[tuple[dict[str, str], bytes]]
CLIP = {"model": "brook", "prompt": "A glacier calves into a calm bay at dawn, seen from a drone"}


@contextmanager
def receiving() -> Iterator[tuple[str, Posts]]:
    """A host that takes webhooks; its address and what came."""
    posts: Posts = Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            posts.put((dict(self.headers.items()), body))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/reelroom", posts
        server.shutdown()


def test_a_clip_of_a_script_is_told_by_stream_and_webhook_until_the_key_is_revoked(
    live_portal: LivePortal,
    sandbox_control: SandboxControl,
    open_member_page: Callable[..., MemberPage],
) -> None:
    open_member_page("Luca").use_token_of(sandbox_control.create_account())
    key = run(
        live_portal,
        *SHELL,
        CREATE_KEY.format(email=live_portal.person("Luca").email, name="events"),
    )
    api = httpx.Client(
        base_url=f"{live_portal.portal}/api/v2",
        headers={"Authorization": f"Bearer {key}"},
        timeout=120,
        trust_env=False,
    )
    with api, receiving() as (url, posts), api.stream("GET", "/_events") as stream:
        treasurer = live_portal.person("Thea").email
        secret = run(live_portal, *SHELL, ADD_WEBHOOK.format(email=treasurer, url=url))
        asked = api.post("/text-to-video", json=CLIP, headers={"Prefer": "wait=60"})
        lines = stream.iter_lines()
        told = next_event(lines, "clip.completed")
        assert str(asked.json()["data"]["asset"]["id"]) == told["data"]["resource"]
        headers, body = posts.get(timeout=120)
        assert Webhook(secret).verify(body, headers) == told
        run(live_portal, *SHELL, REVOKE_KEY.format(url=url))
        assert [line for line in lines if line.startswith("data")] == []  # it ends
        assert api.get("/_events").status_code == 401


def next_event(lines: Iterator[str], event_type: str) -> dict[str, dict[str, str]]:
    found = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
    event: dict[str, dict[str, str]] = next(one for one in found if one["type"] == event_type)
    return event
