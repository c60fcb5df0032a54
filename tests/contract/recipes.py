"""For every endpoint of the spec a request that succeeds, in a world made ready for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.contract import staging
from tests.contract.spec import NOT_SHOWN, Endpoint
from tests.sandbox.conftest import SandboxClient

Places = dict[str, Any]
PrepareWorld = Callable[[SandboxClient], Places]


def no_places(_: SandboxClient) -> Places:
    return {}


class Recipe(NamedTuple):
    """`stage` makes the world ready and answers what the path's places are, and what is sent
    where that depends on it, by the names of httpx. `charges` is what the call costs then."""

    stage: PrepareWorld = no_places
    sent: dict[str, Any] = {}
    status: int = 200
    charges: int | None = None
    method: str | None = None  # where the spec does not show it

    def prepare(self, sandbox: SandboxClient, endpoint: Endpoint) -> PreparedRequest:
        places = self.stage(sandbox)
        sent = {**self.sent, **places.pop("sent", {})}
        return PreparedRequest(
            self.method or endpoint.method, "/v2" + endpoint.path.format(**places), sent
        )


class PreparedRequest(NamedTuple):
    method: str
    path: str
    sent: dict[str, Any]


def typed_recipes(module: str, kind: str) -> dict[tuple[str, str], Recipe]:
    """What the three modules of typed shortcuts have in common."""
    ready = staging.draft(kind, ready=True)
    return {
        ("POST", module): Recipe(sent={"json": {"title": "Tides"}}, status=201),
        ("PUT", module + "/{faceless}/scripts"): Recipe(
            staging.draft(kind), {"json": staging.SCRIPT}, charges=4
        ),
        ("PATCH", module + "/{id}"): Recipe(
            staging.draft(kind, place="id"), {"json": {"title": "Ebb"}}
        ),
        ("POST", module + "/{faceless}/render"): Recipe(ready, status=202, charges=10),
        ("GET", module + "/{id}"): Recipe(staging.draft(kind, place="id")),
    }


def estimate_recipes(module: str, kind: str) -> dict[tuple[str, str], Recipe]:
    return {("GET", module + "/{faceless}/estimate"): Recipe(staging.draft(kind, ready=True))}


def scraping_recipes(module: str) -> dict[tuple[str, str], Recipe]:
    page = staging.draft("url-based")
    wish = {"url": staging.PAGE, "duration": 30, "style": "calm", "tone": "warm", "language": "en"}
    return {
        ("POST", module + "/{faceless}/scrape-images"): Recipe(
            page, {"json": {"url": staging.PAGE}}
        ),
        ("POST", module + "/{faceless}/scrape-script"): Recipe(page, {"json": wish}, charges=4),
    }


ACCOUNT = {
    ("GET", "/me"): Recipe(),
    ("GET", "/credits/costs"): Recipe(),
    ("GET", "/credits/history"): Recipe(),
    ("GET", "/account/auto-topup"): Recipe(),
    ("PUT", "/account/auto-topup"): Recipe(sent={"json": {"enabled": False}}),
}

FACELESS = typed_recipes("/faceless", "ai-visuals") | estimate_recipes("/faceless", "ai-visuals")
FACELESS |= scraping_recipes("/faceless")
FACELESS |= {
    ("GET", "/faceless/options"): Recipe(),
    ("POST", "/faceless"): Recipe(
        sent={"json": {"type": "ai-visuals", "topic": "tides"}}, status=201
    ),
    ("PATCH", "/faceless/{faceless}"): FACELESS.pop(("PATCH", "/faceless/{id}"))._replace(
        stage=staging.draft()
    ),
    ("POST", "/faceless/{faceless}/retry"): Recipe(staging.failed, status=202, charges=10),
    ("POST", "/faceless/{faceless}/export"): Recipe(
        staging.rendered, {"json": {"caption_effect": "karaoke"}}, status=202, charges=0
    ),
}

SHORTCUTS = (
    typed_recipes("/b-roll", "b-roll")
    | estimate_recipes("/b-roll", "b-roll")
    | typed_recipes("/ai-visuals", "ai-visuals")
    | estimate_recipes("/ai-visuals", "ai-visuals")
    | typed_recipes("/url-to-video", "url-based")
    | scraping_recipes("/url-to-video")
    | {
        ("POST", "/ai-visuals/{faceless}/assets/upload"): Recipe(
            staging.draft(), {"files": {"file": ("own.png", staging.png())}}, status=201
        ),
        ("POST", "/ai-visuals/{faceless}/assets/{asset}/regenerate"): Recipe(
            staging.with_scenes, charges=0
        ),
    }
)

TEXT_TO_VIDEO = {
    ("GET", "/text-to-video/models"): Recipe(),
    ("GET", "/text-to-video/estimate"): Recipe(sent={"params": {"model": "brook"}}),
    ("POST", "/text-to-video"): Recipe(sent={"json": staging.CLIP}, status=202, charges=6),
    ("GET", "/text-to-video/{id}"): Recipe(staging.clip),
}

BOARD = "/text-to-scene/{storyboard}"
SCENES = {
    ("POST", "/text-to-scene"): Recipe(sent={"json": {"mode": "manual"}}, status=201),
    ("POST", BOARD + "/prompt"): Recipe(
        staging.storyboard("wizard"), {"json": {"prompt": staging.PROMPT}}
    ),
    ("POST", BOARD + "/scenes"): Recipe(
        staging.storyboard(),
        {"json": {"raw_video_prompt": staging.PROMPT, "duration": 5}},
        status=201,
    ),
    (NOT_SHOWN, BOARD + "/scenes/sort"): Recipe(staging.sorting, method="PUT"),
    (NOT_SHOWN, BOARD + "/scenes/{scene}/frames"): Recipe(
        staging.second_scene,
        {"json": {"first_frame": "https://example.com/a.png"}},
        method="PUT",
    ),
    (NOT_SHOWN, BOARD + "/scenes/{scene}/chain"): Recipe(staging.second_scene, method="PUT"),
    ("POST", BOARD + "/clips"): Recipe(staging.storyboard(scenes=1), status=202),
    ("GET", BOARD + "/estimate"): Recipe(staging.storyboard(scenes=2)),
    ("POST", BOARD + "/render"): Recipe(staging.storyboard(scenes=2), status=202, charges=12),
    ("GET", "/text-to-scene/{id}"): Recipe(staging.storyboard(place="id")),
}

OTHERS = {
    ("GET", "/voice-clones/slots"): Recipe(),
    ("POST", "/voice-clones"): Recipe(sent=staging.clone_form(samples=3), status=201),
    ("GET", "/voice-clones/{id}"): Recipe(staging.clone),
    ("POST", "/ideas/discover"): Recipe(
        sent={"json": {"keyword": "sourdough", "network": "youtube"}}, charges=15
    ),
    ("GET", "/ideas"): Recipe(),
    ("GET", "/characters/genres"): Recipe(),
    ("POST", "/characters"): Recipe(sent=staging.photo(), status=201),
    ("POST", "/characters/{id}/preview"): Recipe(staging.previewing),
    ("POST", "/characters/{id}/train"): Recipe(staging.previewed, status=202, charges=10),
    ("GET", "/characters/{id}"): Recipe(staging.character),
}

RECIPES = {
    Endpoint(*key): recipe
    for group in (ACCOUNT, FACELESS, SHORTCUTS, TEXT_TO_VIDEO, SCENES, OTHERS)
    for key, recipe in group.items()
}
