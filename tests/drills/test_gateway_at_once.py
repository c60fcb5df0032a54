"""Fifty connections send each of a hundred idempotency keys at the same moment."""

from __future__ import annotations

from collections import Counter

import httpx
import pytest

from proxyapi.models import Charge, Job
from tests.drills.figures import Figures
from tests.proxyapi.gateway.conftest import Script, make_script, script, token, worker
from tests.proxyapi.gateway.quoting import CLIP
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
    charged_response,
    make_response,
    replace_upstream,
)

__all__ = ["make_script", "script", "token", "worker"]
CONNECTIONS, KEYS, CREDITS = 50, 100, 5
ALLOWED = {202, 409, 429}


@pytest.fixture
def upstream(monkeypatch: pytest.MonkeyPatch) -> ScriptedUpstream:
    """A service that makes a clip of each request, as often as it is asked."""
    upstream = replace_upstream(monkeypatch)

    def make_clip(_: httpx.Request) -> httpx.Response:
        asset = {"asset": {"id": 100 + len(upstream.requests), "status": "draft"}}
        return with_high_limit(charged_response(asset, CREDITS))

    price = with_high_limit(make_response({"credits": CREDITS}))
    upstream.respond("GET", "/text-to-video/estimate", price)
    upstream.respond("POST", "/text-to-video", make_clip)
    return upstream


def with_high_limit(response: httpx.Response) -> httpx.Response:
    limit = {"X-RateLimit-Limit": "10000", "X-RateLimit-Remaining": "9999"}
    response.headers.update(limit)
    return response


@pytest.mark.django_db(transaction=True)
def test_fifty_connections_with_each_of_a_hundred_keys(
    script: Script, upstream: ScriptedUpstream
) -> None:
    figures = Figures(f"{CONNECTIONS} connections × {KEYS} idempotency keys")
    statuses, wrong = Counter[int](), list[str]()
    for number in range(KEYS):
        asked = {"json": CLIP, "headers": {"Idempotency-Key": f"clip-{number}"}}
        answers = script.at_once(CONNECTIONS, "POST", "/text-to-video", **asked)
        statuses += Counter(answer.status_code for answer in answers)
        again = script.call("POST", "/text-to-video", **asked)
        bodies = {answer.content for answer in (*answers, again) if answer.status_code == 202}
        if len(bodies) != 1 or again.headers.get("idempotent-replayed") != "true":
            wrong.append(f"clip-{number}: {len(bodies)} answers, again {again.status_code}")
    sent = sum(request.method == "POST" for request in upstream.requests)
    charges, jobs = Charge.objects.count(), Job.objects.count()
    figures.report(
        f"{sent} sent, {charges} charges, {jobs} jobs ({dict(statuses)})",
        f"{KEYS} of each",
        holds=sent == charges == jobs == KEYS,
    )
    other = set(statuses) - ALLOWED
    figures.report(f"other statuses: {sorted(other)}", "none", holds=not other)
    figures.report(f"{len(wrong)} keys without one answer", "0", holds=not wrong, found=wrong)
    figures.close()
