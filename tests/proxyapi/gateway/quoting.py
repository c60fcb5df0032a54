"""Asks for quotes, as scripts do."""

from __future__ import annotations

from typing import Any

import httpx

from tests.proxyapi.gateway.conftest import Script
from tests.proxyapi.scripted_upstream import (
    ScriptedUpstream,
)

RENDER = ("POST", "/faceless/7/render")
SCRIPTS = ("PUT", "/faceless/7/scripts")
CLIP = {"model": "brook", "prompt": "a lighthouse in a storm at night"}


def ask(script: Script, method: str, path: str, body: Any = None, **more: Any) -> dict[str, Any]:
    """What a quote for this request says."""
    answer = script.call(
        "POST", "/_quotes", json={"method": method, "path": path, "body": body, **more}
    )
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def show(script: Script, quote: dict[str, Any]) -> dict[str, Any]:
    return dict(script.call("GET", f"/_quotes/{quote['quote']}").json()["data"])


def using(quote: dict[str, Any], **headers: str) -> dict[str, str]:
    return {"Reelroom-Quote": quote["quote"], **headers}


def refused(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def sent(upstream: ScriptedUpstream, method: str, path: str) -> int:
    return len(upstream.request_bodies(method, path))
