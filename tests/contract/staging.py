"""Worlds made ready for a request: a draft, a finished video, a trained character …

Each answers the places of the path, and under `sent` what is sent besides.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from typing import Any

from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

Places = dict[str, Any]

PAGE = "https://garden.example.org/stories/city-bees"
SCRIPT = {"topic": "why the sea has tides", "duration": 30}
SCRIPT |= {"style": "Story", "tone": "Calm", "language": "English"}  # some service wants them
PROMPT = "a lighthouse in a storm at night"
CLIP = {"model": "brook", "prompt": PROMPT}


def png() -> bytes:
    """A picture of one pixel."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0\xff\xaa\x55")
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def wav(seconds: float = 1.0) -> bytes:
    """A sound that is silent."""
    data = bytes(int(16_000 * seconds) * 2)
    head = struct.pack("<4sI4s4sIHHIIHH", b"RIFF", 36 + len(data), b"WAVE", b"fmt ", 16, 1, 1,
                       16_000, 32_000, 2, 16)  # fmt: skip
    return head + b"data" + struct.pack("<I", len(data)) + data


def draft(kind: str = "ai-visuals", *, place: str = "faceless", ready: bool = False) -> Any:
    """A stage: a draft of a type, ready to be rendered or not."""

    def stage(sandbox: SandboxClient) -> Places:
        number = sandbox.draft(type=kind, **(READY_SETTINGS if ready else {}))
        if ready and kind == "url-based":
            sandbox.post(f"/v2/faceless/{number}/scrape-images", {"url": PAGE})
        return {place: number}

    return stage


def failed(sandbox: SandboxClient) -> Places:
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post("/_sandbox/outcomes", {"kind": "faceless", "statuses": ["rendering", "failed"]})
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    return {"faceless": number}


def rendered(sandbox: SandboxClient) -> Places:
    return {"faceless": sandbox.rendered()}


def with_scenes(sandbox: SandboxClient) -> Places:
    """A rendered video with the image of one of its scenes."""
    number = sandbox.rendered()
    (asset, *_) = response_data(sandbox.get(f"/v2/faceless/{number}"))["assets"]
    return {"faceless": number, "asset": asset["id"]}


def clip(sandbox: SandboxClient) -> Places:
    return {"id": response_data(sandbox.post("/v2/text-to-video", CLIP))["asset"]["id"]}


def storyboard(mode: str = "manual", *, scenes: int = 0, place: str = "storyboard") -> Any:
    """A stage: a storyboard with so many scenes."""

    def stage(sandbox: SandboxClient) -> Places:
        number = response_data(sandbox.post("/v2/text-to-scene", {"mode": mode}))["id"]
        for _ in range(scenes):
            sandbox.post(f"/v2/text-to-scene/{number}/scenes", {"raw_video_prompt": PROMPT})
        return {place: number}

    return stage


def sorting(sandbox: SandboxClient) -> Places:
    places = storyboard(scenes=2)(sandbox)
    return {**places, "sent": {"json": {"scenes": scene_ids(sandbox, places)[::-1]}}}


def second_scene(sandbox: SandboxClient) -> Places:
    places: Places = storyboard(scenes=2)(sandbox)
    return {**places, "scene": scene_ids(sandbox, places)[1]}


def scene_ids(sandbox: SandboxClient, places: Places) -> list[int]:
    shown = response_data(sandbox.get(f"/v2/text-to-scene/{places['storyboard']}"))
    return [scene["id"] for scene in shown["scenes"]]


def clone_form(*, samples: int = 1, **more: str) -> dict[str, Any]:
    """What POST /voice-clones takes, as httpx sends it."""
    fields = {"terms": "true", "name": "Thea", "gender": "female", **more}
    files = [("samples[]", (f"{n}.wav", wav(), "audio/wav")) for n in range(samples)]
    return {"data": fields, "files": files}


def clone(sandbox: SandboxClient) -> Places:
    return {"id": response_data(sandbox.call("POST", "/v2/voice-clones", **clone_form()))["id"]}


def photo() -> dict[str, Any]:
    return {"files": {"image": ("mira.png", png(), "image/png")}}


def character(sandbox: SandboxClient) -> Places:
    return {"id": response_data(sandbox.call("POST", "/v2/characters", **photo()))["id"]}


def previewing(sandbox: SandboxClient) -> Places:
    genre = response_data(sandbox.get("/v2/characters/genres"))[0]["id"]
    return {**character(sandbox), "sent": {"json": {"genre_id": genre}}}


def previewed(sandbox: SandboxClient) -> Places:
    """A character with its previews, and what training it takes."""
    places = previewing(sandbox)
    number, wish = places["id"], places["sent"]["json"]
    previews = response_data(sandbox.post(f"/v2/characters/{number}/preview", wish))["previews"]
    body = {"preview_id": previews[0]["id"], "name": "Mira", "age": 34, "gender": "female"}
    return {"id": number, "sent": {"json": body}}


def response_data(answer: Any) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()["data"]


PrepareWorld = Callable[[SandboxClient], Places]
