"""Customers who create, write, render and read as fast as they are answered.

What they were answered is kept, and held against what is there after the sandbox was killed.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from random import Random
from typing import Any

import httpx

from tests.contract import staging
from tests.sandbox.conftest import READY_SETTINGS


@dataclass
class CustomerView:
    """What one customer was answered, and may believe."""

    titles: dict[int, set[str]] = field(default_factory=dict)  # acknowledged, and tried since
    renders: list[int] = field(default_factory=list)
    clips: list[int] = field(default_factory=list)
    costs: list[int] = field(default_factory=list)
    answers: int = 0
    strange: list[str] = field(default_factory=list)


class Customer(threading.Thread):
    def __init__(self, base: str, token: str, seed: int) -> None:
        super().__init__(daemon=True)
        self.told = CustomerView()
        self._chance = Random(seed)  # noqa: S311
        self._base, self._token = base, token

    def run(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        with httpx.Client(
            base_url=self._base, headers=headers, trust_env=False, timeout=20
        ) as self._client:
            try:
                while True:
                    self._act()
            except httpx.TransportError:
                return  # the sandbox was killed

    def _call(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._client.request(method, f"/v2{path}", json=body)
        self.told.answers += 1
        if answer.status_code >= 300:
            self.told.strange.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
            return {"data": {}}
        body = answer.json()
        if "meta" in body:
            self.told.costs.append(body["meta"]["credits"]["cost"])
        return body

    def _act(self) -> None:
        told, chance = self.told, self._chance
        number = self._call("POST", "/faceless", {"type": "ai-visuals", "title": "a"})["data"]["id"]
        told.titles[number] = {"a"}
        path = f"/faceless/{number}"
        title = f"t{chance.random()}"
        told.titles[number].add(title)
        self._call("PATCH", path, {**READY_SETTINGS, "title": title})
        told.titles[number] = {title}
        if chance.random() < 0.5:
            self._call("PUT", f"{path}/scripts", staging.SCRIPT)
        self._call("POST", f"{path}/render")
        told.renders.append(number)
        if chance.random() < 0.5:
            clip = {**staging.CLIP, "prompt": f"{staging.PROMPT} {title}"}
            made = self._call("POST", "/text-to-video", clip)
            told.clips.append(made["data"]["asset"]["id"])
        self._call("GET", path)
