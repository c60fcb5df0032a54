"""What an agent orders: a video, a clip or a storyboard, read into requests of the service.

An order has a digest. Whoever asks for the same again, after a lost answer or from the beginning,
finds the same draft, quote and charge; another one of the same is its next `copy`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxyapi.gateway.answers import GatewayRefusal
from proxyapi.gateway.requests import ServiceRequest
from proxyapi.kinds import storyboard_requests, storyboard_sync
from proxyapi.kinds.clip import CREATE_CLIP_OPERATION
from proxyapi.kinds.faceless_draft import (
    CHANGE_OPERATION,
    CREATE_OPERATION,
    PAGE_SCRIPT_OPERATION,
    RENDER_OPERATION,
    SCRIPT_OPERATION,
    TYPES_WITH_GENRE,
)
from proxyapi.kinds.page_reading import SCRAPE_OPERATION
from proxyapi.kinds.storyboard_copy import STORYBOARD_RENDER_OPERATION
from proxyapi.operations import get_operation

VIDEO_TYPES = ("ai-visuals", "ai-clips", "b-roll")
LINK_TYPE, SCRIPT_CHARS, MAX_SCENES = "url-based", 30_000, 30
# Option group of the service for each setting of a video (spec, Faceless option groups).
SETTING_GROUPS = {
    "voice_id": "voices",
    "genre_id": "genres",
    "aspect_ratio": "aspect_ratios",
    "image_engine_id": "image_engines",
    "clip_engine_id": "clip_engines",
    "background_id": "backgrounds",
    "character_id": "characters",
    "font": "fonts",
    "transition": "transitions",
    "caption_effect": "caption_effects",
    "caption_position": "caption_positions",
    "overlay": "overlays",
    "watermark_position": "watermark_positions",
    "animation": "animations",
    "sfx": "sfx",
    "volume": "volumes",
}
VIDEO_SETTINGS = {*SETTING_GROUPS, "resolution", "audio", "captions"}
CLIP_SETTINGS = {"model", "duration", "resolution", "aspect_ratio", "audio"}
STORYBOARD_SETTINGS = {"clip_engine_id", "resolution", "aspect_ratio", "audio"}
KNOWN_SETTINGS = {"video": VIDEO_SETTINGS, "clip": CLIP_SETTINGS, "storyboard": STORYBOARD_SETTINGS}
SCRIPT_FIELDS = ("style", "tone", "language")


def wrong(message: str) -> GatewayRefusal:
    return GatewayRefusal(400, "GEN-WRONG-ARGS", f"{message} Nothing was charged.")


@dataclass(frozen=True, slots=True)
class Order:
    """`fields` are the arguments of the tool that were given."""

    kind: str
    fields: Mapping[str, Any]

    @property
    def digest(self) -> str:
        content = json.dumps({"kind": self.kind, **self.fields}, sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()

    @property
    def settings(self) -> dict[str, Any]:
        return dict(self.fields.get("settings", {}))

    @property
    def type(self) -> str:
        return LINK_TYPE if "link" in self.fields else self.fields.get("video_type", VIDEO_TYPES[0])

    @property
    def title(self) -> str:
        names = ("title", "topic", "link", "script", "prompt")
        named = next((self.fields[name] for name in names if name in self.fields), "")
        return " ".join(str(named).split())[:120] or "Storyboard"

    def drafting(self) -> list[ServiceRequest]:
        """The free requests that put its draft at the service, in their order. `{id}` stands for
        the id of what the first one made."""
        if self.kind == "clip":
            return []
        if self.kind == "storyboard":
            scenes = [
                {"raw_video_prompt": scene["prompt"], "duration": scene["seconds"]}
                for scene in self.fields["scenes"]
            ]
            first = {"mode": "manual", "title": self.title, "settings": self.settings}
            added = request(storyboard_requests.SCENES, {"scenes": scenes})
            return [request(storyboard_sync.CREATE, first), added]
        first = {"type": self.type, "title": self.title}
        if "topic" in self.fields:
            first["topic"] = self.fields["topic"]
        script = {"script": self.fields["script"]} if "script" in self.fields else {}
        steps = [request(CREATE_OPERATION, first)]
        steps.append(request(CHANGE_OPERATION, {**self.settings, **script}))
        if "link" in self.fields:
            steps.append(request(SCRAPE_OPERATION, {"url": self.fields["link"]}))
        return steps

    def first_charge(self, id: str) -> ServiceRequest:
        """What is paid first, of the draft with this id at the service: the script, where it is to
        be written."""
        if self.kind == "clip":
            body = {"prompt": self.fields["prompt"], **self.settings}
            return request(CREATE_CLIP_OPERATION, body)
        if self.kind == "storyboard":
            return with_id(request(STORYBOARD_RENDER_OPERATION, None), id)
        if "script" in self.fields:
            return render_of(id)
        wanted = {name: self.fields[name] for name in SCRIPT_FIELDS if name in self.fields}
        wanted["duration"] = self.fields["script_seconds"]
        if "link" in self.fields:
            wanted["url"] = self.fields["link"]
            return with_id(request(PAGE_SCRIPT_OPERATION, wanted), id)
        return with_id(request(SCRIPT_OPERATION, {"topic": self.fields["topic"], **wanted}), id)


def request(operation: str, fields: dict[str, Any] | None) -> ServiceRequest:
    return ServiceRequest(get_operation(operation), {}, {}, fields)


def with_id(asked: ServiceRequest, id: str) -> ServiceRequest:
    """The same request for the resource with this id."""
    path = dict.fromkeys(asked.operation.path_parameters, id)
    return ServiceRequest(asked.operation, path, {}, asked.fields)


def render_of(id: str) -> ServiceRequest:
    return with_id(request(RENDER_OPERATION, None), id)


def read_order(kind: str, arguments: Mapping[str, Any]) -> Order:
    """The order of these arguments; None and empty ones are left out. Raises `GatewayRefusal` with
    what is missing or wrong."""
    fields = {name: value for name, value in arguments.items() if value not in (None, "", {}, [])}
    order = Order(kind, fields)
    unknown = order.settings.keys() - KNOWN_SETTINGS[kind]
    if unknown:
        known = ", ".join(sorted(KNOWN_SETTINGS[kind]))
        raise wrong(f"A {kind} has no setting {sorted(unknown)[0]!r:.40}. It has {known}.")
    CHECKS[kind](order)
    return order


def check_video(order: Order) -> None:
    sources = [name for name in ("script", "topic", "link") if name in order.fields]
    if not sources or ("topic" in sources and len(sources) > 1):
        raise wrong("A video needs a script, or a topic, or a link; a link may have a script.")
    needed = ["voice_id", *(["genre_id"] if order.type in TYPES_WITH_GENRE else [])]
    missing = [name for name in needed if not order.settings.get(name)]
    if missing:
        groups = " and ".join(SETTING_GROUPS[name] for name in missing)
        raise wrong(f"settings needs {' and '.join(missing)}: call find_options for {groups}.")


def check_clip(order: Order) -> None:
    if "prompt" not in order.fields or not order.settings.get("model"):
        raise wrong("A clip needs a prompt, and settings with model: find_options, clip_models.")


def check_storyboard(order: Order) -> None:
    if not order.fields.get("scenes"):
        raise wrong("A storyboard needs scenes.")


CHECKS = {"video": check_video, "clip": check_clip, "storyboard": check_storyboard}
