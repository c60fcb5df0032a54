"""Calls made up from /openapi.json, in a world where their ids lead to something.

Half of the calls fit the description and half do not. The places of paths mostly name what
exists, known fields sometimes hold what is known there, and the caller is mostly one who pays.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import httpx
import schemathesis
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi import checks

from tests.contract import staging
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
CALLERS = ("paid",) * 12 + ("poor", "bare", "trial", "none", "unverified", "other", "nobody")
# What these calls change is the sandbox itself, its reads included.
CONTROL = "/_sandbox"


class FuzzPlayground:
    """A sandbox with accounts of every kind, and something of each resource."""

    def __init__(self, sandbox: SandboxClient) -> None:
        self.sandbox = sandbox
        self.cases = 0
        self.statuses: dict[int, int] = {}
        (mira,) = sandbox.reset("paid", seed=11)
        sandbox.set(rate_limit=10**9, scraping_pool=10**9, previews_per_minute=10**9, clone_slots=9)
        sandbox.patch(f"/_sandbox/accounts/{mira['account_id']}", {"credits": 10**9})
        self.bearers = {"nobody": "nonsense", "paid": mira["token"]}
        for name, wanted in {
            "poor": {"credits": 3},
            "bare": {"features": []},
            "trial": {"subscription": "trial"},
            "none": {"subscription": "none"},
            "unverified": {"email_verified": False},
            "other": {},
        }.items():
            self.bearers[name] = sandbox.post("/_sandbox/accounts", wanted).json()["token"]
        self.known = self._furnish(mira)
        self._picture = sandbox.world.snapshot()

    def _furnish(self, mira: dict[str, Any]) -> dict[str, list[Any]]:
        """Values that mean something, by the name of the place or field."""
        box, api = self.sandbox, "/v2/faceless/{}"
        rendered, page = staging.with_scenes(box), box.draft(type="url-based", **READY_SETTINGS)
        asset, clip = rendered["asset"], staging.clip(box)["id"]
        failed, voice = staging.failed(box)["faceless"], staging.clone(box)["id"]
        box.post(api.format(page) + "/scrape-images", {"url": staging.PAGE})
        drafts = [
            box.draft(type=kind, **READY_SETTINGS) for kind in ("ai-clips", "b-roll", "ai-visuals")
        ]
        faceless = [*drafts, page, rendered["faceless"], failed, box.draft()]
        boards = [
            staging.storyboard(scenes=3)(box)["storyboard"],
            staging.storyboard("wizard")(box)["storyboard"],
        ]
        scenes = staging.scene_ids(box, {"storyboard": boards[0]})
        trained = staging.previewed(box)
        characters = [trained["id"], staging.character(box)["id"]]
        known = {
            "faceless": faceless, "storyboard": boards, "scene": scenes, "asset": [asset],
            "account_id": [mira["account_id"]], "fingerprint": mira["fingerprints"],
            "number": [1], "genre_id": [41, 42], "voice_id": [2114], "scenes": [scenes[::-1]],
            "preview_id": [trained["sent"]["json"]["preview_id"]], "url": [staging.PAGE],
            "model": ["brook", "halden"], "duration": [5, 30], "prompt": [staging.PROMPT],
            "raw_video_prompt": [staging.PROMPT], "clip_engine_id": [None],
        }  # fmt: skip
        ids = {
            "/v2/text-to-video": [clip], "/v2/voice-clones": [voice],
            "/v2/characters": characters, "/v2/text-to-scene": boards,
            "/v2/url-to-video": [page], "/v2/b-roll": [drafts[1]],
            "/v2/ai-visuals": [drafts[2], rendered["faceless"]],
        }  # fmt: skip
        return known | ids

    def restore(self) -> None:
        self.sandbox.world.restore(deepcopy(self._picture))

    def operations(self) -> Iterator[Any]:
        """Every operation of the description; who calls is not its business but ours."""
        described = self.sandbox.get("/openapi.json").json()
        for methods in described["paths"].values():
            for operation in methods.values():
                operation.pop("security", None)
        for found in schemathesis.openapi.from_dict(described).get_all_operations():
            assert isinstance(found, Ok)
            yield found.ok()

    def fuzz(self, operation: Any, count: int, number: int) -> None:
        """So many calls of an operation, or all that there are; a bad answer raises."""
        self.restore()
        stale: list[bool] = []  # whether the call before changed something

        @settings(
            max_examples=count,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        @seed(number)
        @given(
            case=st.one_of(*(operation.as_strategy(generation_mode=it) for it in GenerationMode)),
            data=st.data(),
        )
        def call(case: Any, data: st.DataObject) -> None:
            if stale and (operation.method != "get" or operation.path.startswith(CONTROL)):
                self.restore()
            self._use_known_values(case, data)
            caller = data.draw(st.sampled_from(CALLERS), label="caller")
            answer = self._send(case, self.bearers[caller])
            self.cases += 1
            self.statuses[answer.status_code] = self.statuses.get(answer.status_code, 0) + 1
            stale[:] = [True] if answer.status_code < 300 else []
            case.validate_response(answer, checks=CHECKS)

        call()

    def _use_known_values(self, case: Any, data: st.DataObject) -> None:
        """Put known values where made-up ones lead nowhere."""
        for place in case.path_parameters or {}:
            module = "/".join(case.path.split("/")[:3])
            known = self.known.get(module) or self.known["faceless"]
            if place not in ("id", "faceless"):
                known = self.known[place]
            if data.draw(st.integers(0, 9)) < 9:
                case.path_parameters[place] = data.draw(st.sampled_from(known))
        for part in (case.query, case.body):
            for field in [*part] if isinstance(part, dict) else ():
                if field in self.known and data.draw(st.integers(0, 2)) < 2:
                    part[field] = data.draw(st.sampled_from(self.known[field]))

    def _send(self, case: Any, token: str) -> httpx.Response:
        wanted = case.as_transport_kwargs(base_url="http://sandbox")
        headers = dict(wanted["headers"])
        body = {"params": wanted["params"] or None}
        sent = wanted.get("data")
        if "json" in wanted:
            body["content"] = json.dumps(wanted["json"]).encode()
        elif isinstance(sent, bytes | str):
            body["content"] = sent
        elif wanted.get("files"):
            form = httpx.Request("POST", "/", files=[_as_bytes(*it) for it in wanted["files"]])
            body["content"] = form.read()
            headers["Content-Type"] = form.headers["Content-Type"]
        elif sent is not None:
            body["data"] = sent
        url = wanted["url"].removeprefix("http://sandbox")
        return self._deliver(token, wanted["method"], url, headers=headers, **body)

    def _deliver(self, token: str, method: str, path: str, **sent: Any) -> httpx.Response:
        if path.startswith("/v2"):
            sent["headers"]["Authorization"] = f"Bearer {token}"
        return self.sandbox.call(method, path, **sent)


def _as_bytes(name: str, part: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    value = part[1]
    if not isinstance(value, bytes):
        value = str(value).encode(errors="replace")
    return name, (part[0], value, *part[2:])
