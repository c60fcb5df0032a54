"""One row per endpoint of the upstream API v2, with everything that is known about it.

Contract: only operations with a row here are sent upstream (spec, "Endpoints"), and no other table
repeats their facts. Pure data.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from proxyapi.operations.operation import (
    ExecutionEvidence,
    JobKind,
    Operation,
    Price,
    PriceRule,
    RatePool,
)
from proxyapi.operations.row_builders import (
    SCRIPT_TIMEOUT_S,
    UNKNOWN_PRICE,
    UPLOAD_TIMEOUT_S,
    charge_row,
    cost_map_price,
    estimated_price,
    read_row,
    render_row,
    script_row,
    write_row,
)
from proxyapi.upstream.endpoint import RequestBody, RetryPolicy

PREVIEW_TIMEOUT_S = 120.0  # seconds: "up to about 90 seconds, synchronous"
DISCOVERY_TIMEOUT_S = 150.0  # seconds: "up to about 2 minutes, synchronous"
STATUS, LEDGER = ExecutionEvidence.STATUS, ExecutionEvidence.LEDGER
FILE, NO_BODY, SAFE = RequestBody.MULTIPART, RequestBody.NONE, RetryPolicy.SAFE
FACELESS, CLIP, STORYBOARD = JobKind.FACELESS, JobKind.CLIP, JobKind.STORYBOARD
CLONE, CHARACTER = JobKind.CLONE, JobKind.CHARACTER
_ACCOUNT = (
    read_row("me.get", "/me", needs_subscription=False),
    read_row("credits.costs", "/credits/costs", needs_subscription=False),
    read_row("credits.history", "/credits/history", needs_subscription=False),
    read_row("top_up.get", "/account/auto-topup"),
    # It spends no credits, so it is no charge; but it can buy credits, so it is not repeated.
    write_row("top_up.put", "PUT", "/account/auto-topup", evidence=ExecutionEvidence.TOP_UP),
)

_FACELESS = (
    read_row("faceless.options", "/faceless/options", FACELESS),
    write_row("faceless.create", "POST", "/faceless", FACELESS, creates=True),
    read_row("faceless.get", "/faceless/{id}", FACELESS),
    write_row("faceless.patch", "PATCH", "/faceless/{faceless}", FACELESS),
    script_row("faceless.scripts", "PUT", "/faceless/{faceless}/scripts", "Script"),
    read_row("faceless.estimate", "/faceless/{faceless}/estimate", FACELESS),
    render_row("faceless.render", "/faceless/{faceless}/render", "Render", "faceless.estimate"),
    charge_row(
        "faceless.retry",
        "POST",
        "/faceless/{faceless}/retry",
        FACELESS,
        LEDGER,  # failed → rendering → failed equals "never started", so a status proves nothing
        body=NO_BODY,
        starts_rendering=True,
        restarts_failed=True,
        price=Price(PriceRule.LAST_RENDER),
        label="Retry",
        noun="retry",
        request_text="retry",
    ),
    charge_row(
        "faceless.export",
        "POST",
        "/faceless/{faceless}/export",
        FACELESS,
        LEDGER,
        price=cost_map_price("FACELESS_EXPORT", exact=True, may_be_free=True),
        keeps_result=True,
        part_list="exports",
        changes_part=True,
        label="Export",
        noun="export",
    ),
    write_row(
        "faceless.scrape_images",
        "POST",
        "/faceless/{faceless}/scrape-images",
        FACELESS,
        retry=SAFE,
        timeout=60.0,
        rate_pool=RatePool.SCRAPING,
    ),
    script_row(
        "faceless.scrape_script",
        "POST",
        "/faceless/{faceless}/scrape-script",
        "Script from a page",
        rate_pool=RatePool.SCRAPING,
    ),
)

_B_ROLL = (
    write_row("b_roll.create", "POST", "/b-roll", FACELESS, creates=True),
    script_row("b_roll.scripts", "PUT", "/b-roll/{faceless}/scripts", "Script, B-roll"),
    write_row("b_roll.patch", "PATCH", "/b-roll/{id}", FACELESS),
    read_row("b_roll.estimate", "/b-roll/{faceless}/estimate", FACELESS),
    render_row("b_roll.render", "/b-roll/{faceless}/render", "Render, B-roll", "b_roll.estimate"),
    read_row("b_roll.get", "/b-roll/{id}", FACELESS),
)

_AI_VISUALS = (
    write_row("ai_visuals.create", "POST", "/ai-visuals", FACELESS, creates=True),
    script_row("ai_visuals.scripts", "PUT", "/ai-visuals/{faceless}/scripts", "Script, AI visuals"),
    write_row("ai_visuals.patch", "PATCH", "/ai-visuals/{id}", FACELESS),
    read_row("ai_visuals.estimate", "/ai-visuals/{faceless}/estimate", FACELESS),
    render_row(
        "ai_visuals.render",
        "/ai-visuals/{faceless}/render",
        "Render, AI visuals",
        "ai_visuals.estimate",
    ),
    read_row("ai_visuals.get", "/ai-visuals/{id}", FACELESS),
    charge_row(
        "ai_visuals.upload",
        "POST",
        "/ai-visuals/{faceless}/assets/upload",
        FACELESS,
        LEDGER,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
        price=UNKNOWN_PRICE,
        keeps_result=True,
        part_list="assets",
        changes_part=True,
        label="Upload, AI visuals",
        noun="upload",
    ),
    charge_row(
        "ai_visuals.regenerate",
        "POST",
        "/ai-visuals/{faceless}/assets/{asset}/regenerate",
        FACELESS,
        LEDGER,
        price=cost_map_price("AI_IMAGE_REGENERATED", exact=True, may_be_free=True),
        keeps_result=True,
        changes_part=True,
        label="New image, AI visuals",
        noun="new image",
    ),
)

_URL_TO_VIDEO = (
    write_row("url_to_video.create", "POST", "/url-to-video", FACELESS, creates=True),
    write_row(
        "url_to_video.scrape_images",
        "POST",
        "/url-to-video/{faceless}/scrape-images",
        FACELESS,
        retry=SAFE,
        timeout=60.0,
        rate_pool=RatePool.SCRAPING,
    ),
    script_row(
        "url_to_video.scrape_script",
        "POST",
        "/url-to-video/{faceless}/scrape-script",
        "Script from a page, from a page",
        rate_pool=RatePool.SCRAPING,
    ),
    script_row(
        "url_to_video.scripts", "PUT", "/url-to-video/{faceless}/scripts", "Script, from a page"
    ),
    write_row("url_to_video.patch", "PATCH", "/url-to-video/{id}", FACELESS),
    render_row(  # the spec documents no estimate for it
        "url_to_video.render",
        "/url-to-video/{faceless}/render",
        "Render, from a page",
        "faceless.estimate",
    ),
    read_row("url_to_video.get", "/url-to-video/{id}", FACELESS),
)

_TEXT_TO_VIDEO = (
    read_row("text_to_video.models", "/text-to-video/models", CLIP),
    read_row("text_to_video.estimate", "/text-to-video/estimate", CLIP),
    charge_row(
        "text_to_video.create",
        "POST",
        "/text-to-video",
        CLIP,
        LEDGER,  # the id exists only in the answer and there is no list
        body=FILE,  # references that are files; the spec shows no parameter of theirs
        creates=True,
        refundable=True,
        price=estimated_price("text_to_video.estimate", exact=True),
        label="Clip",
        noun="clip",
    ),
    read_row("text_to_video.get", "/text-to-video/{id}", CLIP),
)

_SCENE = "/text-to-scene/{storyboard}"
_GUESSED: dict[str, Any] = {"method_documented": False}
_TEXT_TO_SCENE = (
    write_row("text_to_scene.create", "POST", "/text-to-scene", STORYBOARD, creates=True),
    charge_row(
        "text_to_scene.prompt",
        "POST",
        f"{_SCENE}/prompt",
        STORYBOARD,
        STATUS,
        timeout=SCRIPT_TIMEOUT_S,
        price=UNKNOWN_PRICE,
        part_list="scenes",
        label="Scenes, written",
        noun="writing of scenes",
        request_text="have scenes written for",
    ),
    write_row("text_to_scene.scenes", "POST", f"{_SCENE}/scenes", STORYBOARD),
    write_row("text_to_scene.sort", "PUT", f"{_SCENE}/scenes/sort", STORYBOARD, **_GUESSED),
    write_row(
        "text_to_scene.frames",
        "PUT",
        f"{_SCENE}/scenes/{{scene}}/frames",
        STORYBOARD,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
        **_GUESSED,
    ),
    write_row(
        "text_to_scene.chain", "PUT", f"{_SCENE}/scenes/{{scene}}/chain", STORYBOARD, **_GUESSED
    ),
    charge_row(
        "text_to_scene.clips",
        "POST",
        f"{_SCENE}/clips",
        STORYBOARD,
        STATUS,
        price=UNKNOWN_PRICE,
        part_list="scenes",
        changes_part=True,
        label="Scene clips",
        noun="order of scene clips",
        request_text="make clips for",
    ),
    read_row("text_to_scene.estimate", f"{_SCENE}/estimate", STORYBOARD),
    charge_row(
        "text_to_scene.render",
        "POST",
        f"{_SCENE}/render",
        STORYBOARD,
        STATUS,
        starts_rendering=True,
        price=estimated_price("text_to_scene.estimate", exact=True, may_be_free=True),
        label="Render, storyboard",
        noun="render",
        request_text="render",
    ),
    read_row("text_to_scene.get", "/text-to-scene/{id}", STORYBOARD),
)

_VOICE_CLONES = (
    read_row("voice_clones.slots", "/voice-clones/slots", CLONE),
    charge_row(
        "voice_clones.create",
        "POST",
        "/voice-clones",
        CLONE,
        ExecutionEvidence.SLOTS,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
        creates=True,
        # It charges when a slot is bought with it.
        price=estimated_price("voice_clones.slots", exact=True, may_be_free=True),
        label="Voice clone",
        noun="voice clone",
    ),
    read_row("voice_clones.get", "/voice-clones/{id}", CLONE),
)

_IDEAS = (
    charge_row(
        "ideas.discover",
        "POST",
        "/ideas/discover",
        None,
        ExecutionEvidence.IDEAS,
        timeout=DISCOVERY_TIMEOUT_S,
        price=cost_map_price("IDEA_DISCOVERY", 15, exact=True, may_be_free=True),
        keeps_result=True,
        label="Idea search",
        noun="idea search",
        request_text="search for ideas on",
    ),
    read_row("ideas.list", "/ideas"),
)

_CHARACTERS = (
    read_row("characters.genres", "/characters/genres", CHARACTER),
    write_row(
        "characters.create",
        "POST",
        "/characters",
        CHARACTER,
        creates=True,
        body=FILE,
        timeout=UPLOAD_TIMEOUT_S,
    ),
    charge_row(
        "characters.preview",
        "POST",
        "/characters/{id}/preview",
        CHARACTER,
        LEDGER,
        timeout=PREVIEW_TIMEOUT_S,
        price=cost_map_price("CHARACTER_PREVIEW", may_be_free=True),
        rate_pool=RatePool.PREVIEWS,
        keeps_result=True,
        part_list="previews",
        changes_part=True,
        adds_parts=True,
        label="Character preview",
        noun="character preview",
    ),
    charge_row(
        "characters.train",
        "POST",
        "/characters/{id}/train",
        CHARACTER,
        STATUS,
        starts_rendering=True,
        price=cost_map_price("CHARACTER_TRAINING", 10, exact=True),
        label="Character training",
        noun="character training",
    ),
    read_row("characters.get", "/characters/{id}", CHARACTER),
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

OPERATIONS: Mapping[str, Operation] = MappingProxyType({row.name: row for row in _ROWS})


def get_operation(name: str) -> Operation:
    """The row of that name. Raises `KeyError` for an unknown name."""
    return OPERATIONS[name]
