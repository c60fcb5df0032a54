"""One row per endpoint of the upstream API v2, and what each of them may cost us.

Contract: nothing is sent upstream that is not a row here (spec, "Endpoints"). A row says how a
call is made, whether it may spend credits, and what can be read afterwards to find out whether
a call whose answer was lost was carried out. Pure data, standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from proxyapi.upstream.operation import ExecutionEvidence, Operation, RequestBody, RetryPolicy

__all__ = [
    "CATALOG",
    "ExecutionEvidence",
    "Operation",
    "RequestBody",
    "RetryPolicy",
    "get_operation",
]


def _read_operation(name: str, path: str, *, subscription: bool = True) -> Operation:
    return Operation(
        name,
        "GET",
        path,
        RequestBody.NONE,
        False,
        RetryPolicy.SAFE,
        needs_subscription=subscription,
    )


def _free_operation(
    name: str,
    method: str,
    path: str,
    *,
    body: RequestBody = RequestBody.JSON,
    retry: RetryPolicy = RetryPolicy.NEVER,
    evidence: ExecutionEvidence = ExecutionEvidence.NONE,
    timeout: float = 30.0,
    method_shown: bool = True,
) -> Operation:
    return Operation(
        name, method, path, body, False, retry, evidence, timeout, method_documented=method_shown
    )


def _charging_operation(
    name: str,
    method: str,
    path: str,
    evidence: ExecutionEvidence,
    *,
    body: RequestBody = RequestBody.JSON,
    timeout: float = 60.0,
) -> Operation:
    return Operation(name, method, path, body, True, RetryPolicy.NEVER, evidence, timeout)


STATUS, SCRIPT, LEDGER = (
    ExecutionEvidence.STATUS,
    ExecutionEvidence.SCRIPT,
    ExecutionEvidence.LEDGER,
)
FILE, NO_BODY, SAFE = RequestBody.MULTIPART, RequestBody.NONE, RetryPolicy.SAFE
SCRIPT_TIMEOUT_S = (
    120.0  # seconds: a script is written while the call waits; its length is not shown
)
UPLOAD_TIMEOUT_S = 120.0  # seconds: the service stores and may transcode what it is given
PREVIEW_TIMEOUT_S = 120.0  # seconds: "up to about 90 seconds, synchronous"
DISCOVERY_TIMEOUT_S = 150.0  # seconds: "up to about 2 minutes, synchronous"

_ACCOUNT = (
    _read_operation("me.get", "/me", subscription=False),
    _read_operation("credits.costs", "/credits/costs", subscription=False),
    _read_operation("credits.history", "/credits/history", subscription=False),
    _read_operation("top_up.get", "/account/auto-topup"),
    # It spends no credits, so it is no charge; but it can buy some, so it is not repeated.
    _free_operation("top_up.put", "PUT", "/account/auto-topup", evidence=ExecutionEvidence.TOP_UP),
)

_FACELESS = (
    _read_operation("faceless.options", "/faceless/options"),
    _free_operation("faceless.create", "POST", "/faceless"),
    _read_operation("faceless.get", "/faceless/{id}"),
    _free_operation("faceless.patch", "PATCH", "/faceless/{faceless}"),
    _charging_operation(
        "faceless.scripts", "PUT", "/faceless/{faceless}/scripts", SCRIPT, timeout=SCRIPT_TIMEOUT_S
    ),
    _read_operation("faceless.estimate", "/faceless/{faceless}/estimate"),
    _charging_operation("faceless.render", "POST", "/faceless/{faceless}/render", STATUS),
    # failed → rendering → failed looks like "never started": the status proves nothing here.
    _charging_operation(
        "faceless.retry", "POST", "/faceless/{faceless}/retry", LEDGER, body=NO_BODY
    ),
    _charging_operation("faceless.export", "POST", "/faceless/{faceless}/export", LEDGER),
    _free_operation(
        "faceless.scrape_images",
        "POST",
        "/faceless/{faceless}/scrape-images",
        retry=SAFE,
        timeout=60.0,
    ),
    _charging_operation(
        "faceless.scrape_script",
        "POST",
        "/faceless/{faceless}/scrape-script",
        SCRIPT,
        timeout=SCRIPT_TIMEOUT_S,
    ),
)

_B_ROLL = (
    _free_operation("b_roll.create", "POST", "/b-roll"),
    _charging_operation(
        "b_roll.scripts", "PUT", "/b-roll/{faceless}/scripts", SCRIPT, timeout=SCRIPT_TIMEOUT_S
    ),
    _free_operation("b_roll.patch", "PATCH", "/b-roll/{id}"),
    _read_operation("b_roll.estimate", "/b-roll/{faceless}/estimate"),
    _charging_operation("b_roll.render", "POST", "/b-roll/{faceless}/render", STATUS),
    _read_operation("b_roll.get", "/b-roll/{id}"),
)

_AI_VISUALS = (
    _free_operation("ai_visuals.create", "POST", "/ai-visuals"),
    _charging_operation(
        "ai_visuals.scripts",
        "PUT",
        "/ai-visuals/{faceless}/scripts",
        SCRIPT,
        timeout=SCRIPT_TIMEOUT_S,
    ),
    _free_operation("ai_visuals.patch", "PATCH", "/ai-visuals/{id}"),
    _read_operation("ai_visuals.estimate", "/ai-visuals/{faceless}/estimate"),
    _charging_operation("ai_visuals.render", "POST", "/ai-visuals/{faceless}/render", STATUS),
    _read_operation("ai_visuals.get", "/ai-visuals/{id}"),
    _charging_operation(
        "ai_visuals.upload",
        "POST",
        "/ai-visuals/{faceless}/assets/upload",
        LEDGER,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
    ),
    _charging_operation(
        "ai_visuals.regenerate",
        "POST",
        "/ai-visuals/{faceless}/assets/{asset}/regenerate",
        LEDGER,
    ),
)

_URL_TO_VIDEO = (
    _free_operation("url_to_video.create", "POST", "/url-to-video"),
    _free_operation(
        "url_to_video.scrape_images",
        "POST",
        "/url-to-video/{faceless}/scrape-images",
        retry=SAFE,
        timeout=60.0,
    ),
    _charging_operation(
        "url_to_video.scrape_script",
        "POST",
        "/url-to-video/{faceless}/scrape-script",
        SCRIPT,
        timeout=SCRIPT_TIMEOUT_S,
    ),
    _charging_operation(
        "url_to_video.scripts",
        "PUT",
        "/url-to-video/{faceless}/scripts",
        SCRIPT,
        timeout=SCRIPT_TIMEOUT_S,
    ),
    _free_operation("url_to_video.patch", "PATCH", "/url-to-video/{id}"),
    _charging_operation("url_to_video.render", "POST", "/url-to-video/{faceless}/render", STATUS),
    _read_operation("url_to_video.get", "/url-to-video/{id}"),
)

_TEXT_TO_VIDEO = (
    _read_operation("text_to_video.models", "/text-to-video/models"),
    _read_operation("text_to_video.estimate", "/text-to-video/estimate"),
    # The id exists only in the answer and there is no list: a lost answer is an orphan.
    _charging_operation("text_to_video.create", "POST", "/text-to-video", LEDGER),
    _read_operation("text_to_video.get", "/text-to-video/{id}"),
)

_SCENE = "/text-to-scene/{storyboard}"
_TEXT_TO_SCENE = (
    _free_operation("text_to_scene.create", "POST", "/text-to-scene"),
    _charging_operation(
        "text_to_scene.prompt", "POST", f"{_SCENE}/prompt", STATUS, timeout=SCRIPT_TIMEOUT_S
    ),
    _free_operation("text_to_scene.scenes", "POST", f"{_SCENE}/scenes"),
    _free_operation("text_to_scene.sort", "PUT", f"{_SCENE}/scenes/sort", method_shown=False),
    _free_operation(
        "text_to_scene.frames", "PUT", f"{_SCENE}/scenes/{{scene}}/frames", method_shown=False
    ),
    _free_operation(
        "text_to_scene.chain", "PUT", f"{_SCENE}/scenes/{{scene}}/chain", method_shown=False
    ),
    _charging_operation("text_to_scene.clips", "POST", f"{_SCENE}/clips", STATUS),
    _read_operation("text_to_scene.estimate", f"{_SCENE}/estimate"),
    _charging_operation("text_to_scene.render", "POST", f"{_SCENE}/render", STATUS),
    _read_operation("text_to_scene.get", "/text-to-scene/{id}"),
)

_VOICE_CLONES = (
    _read_operation("voice_clones.slots", "/voice-clones/slots"),
    _charging_operation(
        "voice_clones.create",
        "POST",
        "/voice-clones",
        ExecutionEvidence.SLOTS,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
    ),
    _read_operation("voice_clones.get", "/voice-clones/{id}"),
)

_IDEAS = (
    _charging_operation(
        "ideas.discover",
        "POST",
        "/ideas/discover",
        ExecutionEvidence.IDEAS,
        timeout=DISCOVERY_TIMEOUT_S,
    ),
    _read_operation("ideas.list", "/ideas"),
)

_CHARACTERS = (
    _read_operation("characters.genres", "/characters/genres"),
    _free_operation(
        "characters.create", "POST", "/characters", body=FILE, timeout=UPLOAD_TIMEOUT_S
    ),
    _charging_operation(
        "characters.preview", "POST", "/characters/{id}/preview", LEDGER, timeout=PREVIEW_TIMEOUT_S
    ),
    _charging_operation("characters.train", "POST", "/characters/{id}/train", STATUS),
    _read_operation("characters.get", "/characters/{id}"),
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


def get_operation(name: str) -> Operation:
    """The row of that name; KeyError for anything that is not in the catalog."""
    return CATALOG[name]
