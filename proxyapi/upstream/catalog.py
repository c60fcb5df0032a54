"""One row per endpoint of the upstream API v2, and what each of them may cost us.

Contract: nothing is sent upstream that is not a row here (spec, "Endpoints"). A row says how a
call is made, whether it may spend credits, and what can be read afterwards to find out whether
a call whose answer was lost was carried out. Pure data, standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proxyapi.upstream.operation import Body, Evidence, Operation, Retry

__all__ = ["CATALOG", "Body", "Evidence", "Operation", "Retry", "operation"]


def _get(name: str, path: str, *, subscription: bool = True) -> Operation:
    return Operation(name, "GET", path, Body.NONE, False, Retry.SAFE, subscription=subscription)


def _free(
    name: str,
    method: str,
    path: str,
    *,
    body: Body = Body.JSON,
    retry: Retry = Retry.NEVER,
    evidence: Evidence = Evidence.NONE,
    timeout: float = 30.0,
    method_shown: bool = True,
) -> Operation:
    return Operation(
        name, method, path, body, False, retry, evidence, timeout, method_shown=method_shown
    )


def _paid(
    name: str,
    method: str,
    path: str,
    evidence: Evidence,
    *,
    body: Body = Body.JSON,
    timeout: float = 60.0,
) -> Operation:
    return Operation(name, method, path, body, True, Retry.NEVER, evidence, timeout)


STATUS, SCRIPT, LEDGER = Evidence.STATUS, Evidence.SCRIPT, Evidence.LEDGER
FILE, BARE, SAFE = Body.MULTIPART, Body.NONE, Retry.SAFE
WRITING = 120.0  # seconds: a script is written while the call waits; its length is not shown
UPLOAD = 120.0  # seconds: the service stores and may transcode what it is given
PREVIEW = 120.0  # seconds: "up to about 90 seconds, synchronous"
DISCOVERY = 150.0  # seconds: "up to about 2 minutes, synchronous"

_ACCOUNT = (
    _get("me.get", "/me", subscription=False),
    _get("credits.costs", "/credits/costs", subscription=False),
    _get("credits.history", "/credits/history", subscription=False),
    _get("top_up.get", "/account/auto-topup"),
    # It spends no credits, so it is no charge; but it can buy some, so it is not repeated.
    _free("top_up.put", "PUT", "/account/auto-topup", evidence=Evidence.TOP_UP),
)

_FACELESS = (
    _get("faceless.options", "/faceless/options"),
    _free("faceless.create", "POST", "/faceless"),
    _get("faceless.get", "/faceless/{id}"),
    _free("faceless.patch", "PATCH", "/faceless/{faceless}"),
    _paid("faceless.scripts", "PUT", "/faceless/{faceless}/scripts", SCRIPT, timeout=WRITING),
    _get("faceless.estimate", "/faceless/{faceless}/estimate"),
    _paid("faceless.render", "POST", "/faceless/{faceless}/render", STATUS),
    # failed → rendering → failed looks like "never started": the status proves nothing here.
    _paid("faceless.retry", "POST", "/faceless/{faceless}/retry", LEDGER, body=BARE),
    _paid("faceless.export", "POST", "/faceless/{faceless}/export", LEDGER),
    _free(
        "faceless.scrape_images",
        "POST",
        "/faceless/{faceless}/scrape-images",
        retry=SAFE,
        timeout=60.0,
    ),
    _paid(
        "faceless.scrape_script",
        "POST",
        "/faceless/{faceless}/scrape-script",
        SCRIPT,
        timeout=WRITING,
    ),
)

_B_ROLL = (
    _free("b_roll.create", "POST", "/b-roll"),
    _paid("b_roll.scripts", "PUT", "/b-roll/{faceless}/scripts", SCRIPT, timeout=WRITING),
    _free("b_roll.patch", "PATCH", "/b-roll/{id}"),
    _get("b_roll.estimate", "/b-roll/{faceless}/estimate"),
    _paid("b_roll.render", "POST", "/b-roll/{faceless}/render", STATUS),
    _get("b_roll.get", "/b-roll/{id}"),
)

_AI_VISUALS = (
    _free("ai_visuals.create", "POST", "/ai-visuals"),
    _paid("ai_visuals.scripts", "PUT", "/ai-visuals/{faceless}/scripts", SCRIPT, timeout=WRITING),
    _free("ai_visuals.patch", "PATCH", "/ai-visuals/{id}"),
    _get("ai_visuals.estimate", "/ai-visuals/{faceless}/estimate"),
    _paid("ai_visuals.render", "POST", "/ai-visuals/{faceless}/render", STATUS),
    _get("ai_visuals.get", "/ai-visuals/{id}"),
    _paid(
        "ai_visuals.upload",
        "POST",
        "/ai-visuals/{faceless}/assets/upload",
        LEDGER,
        body=FILE,
        timeout=UPLOAD,
    ),
    _paid(
        "ai_visuals.regenerate",
        "POST",
        "/ai-visuals/{faceless}/assets/{asset}/regenerate",
        LEDGER,
    ),
)

_URL_TO_VIDEO = (
    _free("url_to_video.create", "POST", "/url-to-video"),
    _free(
        "url_to_video.scrape_images",
        "POST",
        "/url-to-video/{faceless}/scrape-images",
        retry=SAFE,
        timeout=60.0,
    ),
    _paid(
        "url_to_video.scrape_script",
        "POST",
        "/url-to-video/{faceless}/scrape-script",
        SCRIPT,
        timeout=WRITING,
    ),
    _paid(
        "url_to_video.scripts",
        "PUT",
        "/url-to-video/{faceless}/scripts",
        SCRIPT,
        timeout=WRITING,
    ),
    _free("url_to_video.patch", "PATCH", "/url-to-video/{id}"),
    _paid("url_to_video.render", "POST", "/url-to-video/{faceless}/render", STATUS),
    _get("url_to_video.get", "/url-to-video/{id}"),
)

_TEXT_TO_VIDEO = (
    _get("text_to_video.models", "/text-to-video/models"),
    _get("text_to_video.estimate", "/text-to-video/estimate"),
    # The id exists only in the answer and there is no list: a lost answer is an orphan.
    _paid("text_to_video.create", "POST", "/text-to-video", LEDGER),
    _get("text_to_video.get", "/text-to-video/{id}"),
)

_SCENE = "/text-to-scene/{storyboard}"
_TEXT_TO_SCENE = (
    _free("text_to_scene.create", "POST", "/text-to-scene"),
    _paid("text_to_scene.prompt", "POST", f"{_SCENE}/prompt", STATUS, timeout=WRITING),
    _free("text_to_scene.scenes", "POST", f"{_SCENE}/scenes"),
    _free("text_to_scene.sort", "PUT", f"{_SCENE}/scenes/sort", method_shown=False),
    _free("text_to_scene.frames", "PUT", f"{_SCENE}/scenes/{{scene}}/frames", method_shown=False),
    _free("text_to_scene.chain", "PUT", f"{_SCENE}/scenes/{{scene}}/chain", method_shown=False),
    _paid("text_to_scene.clips", "POST", f"{_SCENE}/clips", STATUS),
    _get("text_to_scene.estimate", f"{_SCENE}/estimate"),
    _paid("text_to_scene.render", "POST", f"{_SCENE}/render", STATUS),
    _get("text_to_scene.get", "/text-to-scene/{id}"),
)

_VOICE_CLONES = (
    _get("voice_clones.slots", "/voice-clones/slots"),
    _paid(
        "voice_clones.create",
        "POST",
        "/voice-clones",
        Evidence.SLOTS,
        body=FILE,
        timeout=UPLOAD,
    ),
    _get("voice_clones.get", "/voice-clones/{id}"),
)

_IDEAS = (
    _paid("ideas.discover", "POST", "/ideas/discover", Evidence.IDEAS, timeout=DISCOVERY),
    _get("ideas.list", "/ideas"),
)

_CHARACTERS = (
    _get("characters.genres", "/characters/genres"),
    _free("characters.create", "POST", "/characters", body=FILE, timeout=UPLOAD),
    _paid("characters.preview", "POST", "/characters/{id}/preview", LEDGER, timeout=PREVIEW),
    _paid("characters.train", "POST", "/characters/{id}/train", STATUS),
    _get("characters.get", "/characters/{id}"),
)

_ROWS = (
    *_ACCOUNT,
    *_FACELESS,
    *_B_ROLL,
    *_AI_VISUALS,
    *_URL_TO_VIDEO,
    *_TEXT_TO_VIDEO,
    *_TEXT_TO_SCENE,
    *_VOICE_CLONES,
    *_IDEAS,
    *_CHARACTERS,
)

CATALOG: Mapping[str, Operation] = MappingProxyType({row.name: row for row in _ROWS})


def operation(name: str) -> Operation:
    """The row of that name; KeyError for anything that is not in the catalog."""
    return CATALOG[name]
