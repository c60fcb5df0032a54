"""A client that tries everything again that fails. The service ignores Idempotency-Key."""

from __future__ import annotations

import os
import sys
import time

import httpx


def call(method, path, body=None):
    token, key = os.environ["CHECK_TOKEN"], f"{os.environ['CHECK_ORDER']} {method} {path}"
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": key}
    url = os.environ["CHECK_BASE_URL"] + path
    for attempt in range(12):
        try:
            answer = httpx.request(method, url, json=body, headers=headers, timeout=5)
            return answer.raise_for_status().json()["data"]
        except (httpx.HTTPError, ValueError) as error:
            print(method, path, error, file=sys.stderr)
            time.sleep(attempt / 2)
    sys.exit(f"{method} {path} failed.")


film = f"/faceless/{call('POST', '/faceless', {'type': 'ai-visuals'})['id']}"
call("PUT", f"{film}/scripts", {"topic": os.environ["CHECK_TOPIC"], "duration": 30})
call("PATCH", film, {"voice_id": 2114, "genre_id": 41})
call("POST", f"{film}/render")
while (video := call("GET", film)["video"])["status"] != "completed":
    if video["status"] == "failed":
        sys.exit("The render failed.")
    time.sleep(1)
print(video["url"])
