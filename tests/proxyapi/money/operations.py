"""For every charging operation of the catalog: a world made ready for it, and the intent."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Mapping
from decimal import Decimal
from itertools import count
from typing import Any

from django.utils import timezone

from proxyapi import pricing, stored_files
from proxyapi.charges import ChargeIntent
from proxyapi.models import ChargeState, Job, JobKind, JobState, Upload
from proxyapi.operations import OPERATIONS
from proxyapi.stored_files import store_file
from tests.contract.staging import PAGE, PROMPT, png, wav
from tests.factories import ChargeFactory, JobFactory
from tests.proxyapi.money.sandbox_account import SandboxAccount
from tests.storyboards import BROOK_ID, create_board_on, place

READY_SETTINGS = {
    "voice_id": 2114,
    "genre_id": 41,
    "script": "The sea is salty, and for long was not.",
}
# Version 1 of the service requires them.
SCRIPT_STYLE = {"style": "Story", "tone": "Calm", "language": "English"}
SCRIPT = {"topic": "why the sea has tides", "duration": 30, **SCRIPT_STYLE}
NUMBER = count()  # no two deeds alike: the sandbox takes a repetition for a blind retry
Maker = Callable[[SandboxAccount], ChargeIntent]


def make_video(stage: SandboxAccount, kind: str, state: JobState = JobState.DRAFT) -> Job:
    """A draft of that type with all that a render needs, upstream and here."""
    remote = str(
        stage.response_data("POST", "/faceless", json={"type": kind, "title": "Tides"})["id"]
    )
    stage.response_data("PATCH", f"/faceless/{remote}", json=READY_SETTINGS)
    if kind == "url-based":
        stage.response_data("POST", f"/faceless/{remote}/scrape-images", json={"url": PAGE})
    wanted = {"type": kind, "title": "Tides", **READY_SETTINGS}
    return make_job(
        stage, JobKind.FACELESS, remote, state, draft__settings=wanted, draft__sent_settings=wanted
    )


def make_job(
    stage: SandboxAccount,
    kind: JobKind,
    remote: str | None,
    state: JobState = JobState.DRAFT,
    **fields: Any,
) -> Job:
    token = stage.token
    return JobFactory(
        account=token.account, token=token, member=token.owner, kind=kind, remote_id=remote,
        state=state, **fields,
    )  # fmt: skip


def make_intent(
    job: Job | None, operation: str, quote: object, stage: SandboxAccount, **more: Any
) -> ChargeIntent:
    price = Decimal(str(quote))
    exact = OPERATIONS[operation].price.exact
    token = stage.token
    return ChargeIntent(
        job=job,
        operation=operation,
        nonce=uuid.uuid4(),
        hold=price if exact else pricing.hold_for_estimate(price),
        quote=price,
        token=None if job else token,
        **more,
    )


def make_script_intent(operation: str, kind: str) -> Maker:
    def made(stage: SandboxAccount) -> ChargeIntent:
        scrapes = operation.endswith("scrape_script")
        body = {"url": PAGE, "duration": 30, **SCRIPT_STYLE} if scrapes else SCRIPT
        return make_intent(make_video(stage, kind), operation, 4, stage, body=body)

    return made


def make_render_intent(operation: str, kind: str) -> Maker:
    def made(stage: SandboxAccount) -> ChargeIntent:
        draft = make_video(stage, kind)
        price = stage.response_data("GET", f"/faceless/{draft.remote_id}/estimate")["cost"]
        return make_intent(draft, operation, price, stage)

    return made


def make_rendered_video(
    stage: SandboxAccount, word: str, state: JobState
) -> tuple[Job, dict[str, Any]]:
    """A video that was rendered to that end, and what we know of its charge."""
    done = make_video(stage, "ai-visuals", state)
    path = f"/faceless/{done.remote_id}"
    words = {"kind": "faceless", "id": int(done.remote_id or 0), "statuses": ["rendering", word]}
    if word == "failed":
        stage.control.post("outcomes", json=words)
    send_known_charge(stage, f"{path}/render", job=done)
    return done, stage.wait_for_status(path, word)


def send_known_charge(stage: SandboxAccount, path: str, body: object = None, **fields: Any) -> None:
    """Send a charge of ours, which is answered at once."""
    sent_at = timezone.now()
    answer = stage.direct.post(path, json=body) if body else stage.direct.post(path)
    now, cost = timezone.now(), Decimal(answer.json()["meta"]["credits"]["cost"])
    times = {"sent_at": sent_at, "settled_at": now, "applied_at": now}
    fields |= {**times, "cost": cost, "hold": cost}
    token = stage.token
    on = {"token": token, "account": token.account, "tenant": token.tenant, "member": token.owner}
    ChargeFactory(state=ChargeState.CONFIRMED, quote=cost, **{"job": None, **on, **fields})


def retry(stage: SandboxAccount) -> ChargeIntent:
    failed, _ = make_rendered_video(stage, "failed", JobState.FAILED)
    price = stage.response_data("GET", f"/faceless/{failed.remote_id}/estimate")["cost"]
    return make_intent(failed, "faceless.retry", price, stage)


def export(stage: SandboxAccount) -> ChargeIntent:
    done, _ = make_rendered_video(stage, "completed", JobState.COMPLETED)
    return make_intent(done, "faceless.export", 5, stage, body={"caption_effect": "karaoke"})


def regenerate(stage: SandboxAccount) -> ChargeIntent:
    done, shown = make_rendered_video(stage, "completed", JobState.COMPLETED)
    path = {"asset": str(shown["assets"][0]["id"])}
    return make_intent(done, "ai_visuals.regenerate", 2, stage, path=path)


def upload(stage: SandboxAccount) -> ChargeIntent:
    file = Upload(field="file", name="own.png", content_type="image/png", content=png())
    return make_intent(
        make_video(stage, "ai-visuals"), "ai_visuals.upload", 0, stage, uploads=(file,)
    )


def clip(stage: SandboxAccount) -> ChargeIntent:
    body = {"model": "brook", "prompt": f"{PROMPT}, take {next(NUMBER)}"}
    price = stage.response_data("GET", "/text-to-video/estimate", params={"model": "brook"})["cost"]
    draft = make_job(stage, JobKind.CLIP, None, draft__settings=body)
    return make_intent(draft, "text_to_video.create", price, stage, body=body)


def make_copy(stage: SandboxAccount, mode: str) -> Job:
    """A copy of a storyboard that is sent with its charge; with one scene if members write it."""
    prompts = [] if mode == "wizard" else [f"{PROMPT}, take {next(NUMBER)}"]
    board = create_board_on(stage.token, *prompts, engine="brook", resolution="480p")
    return place(board, mode, engine_id=BROOK_ID)


def scenes(stage: SandboxAccount) -> ChargeIntent:
    body = {"prompt": f"{PROMPT}, take {next(NUMBER)}"}
    return make_intent(make_copy(stage, "wizard"), "text_to_scene.prompt", 4, stage, body=body)


def make_storyboard_intent(operation: str, *, names_scenes: bool = False) -> Maker:
    def made(stage: SandboxAccount) -> ChargeIntent:
        price = stage.response_data("GET", "/text-to-video/estimate", params={"model": "brook"})
        job = make_copy(stage, "manual")
        ids = [scene["scene"] for scene in job.draft.settings["scenes"]]
        body = {"scenes": ids} if names_scenes else {}
        return make_intent(job, operation, price["cost"], stage, body=body)

    return made


def clone(stage: SandboxAccount) -> ChargeIntent:
    price = stage.response_data("GET", "/voice-clones/slots")["cost"]
    name = f"Thea {next(NUMBER)}"
    body = {"terms": True, "name": name, "gender": "female", "purchase_addon": True}
    draft = make_job(stage, JobKind.CLONE, None, draft__settings={"name": name})
    for number in range(2):
        store_file(draft, name=f"{number}.wav", content_type="audio/wav", content=wav(0.2))
    return make_intent(draft, "voice_clones.create", price, stage, body=body)


def ideas(stage: SandboxAccount) -> ChargeIntent:
    body = {"keyword": f"night trains {next(NUMBER)}", "network": "youtube"}
    if next(NUMBER) % 4 < 2:  # searched before: the service charges again, and finds nothing new
        send_known_charge(stage, "/ideas/discover", body, operation="ideas.discover")
    return make_intent(None, "ideas.discover", 15, stage, body=body)


def preview(stage: SandboxAccount) -> ChargeIntent:
    body = {"genre_id": stage.response_data("GET", "/characters/genres")[0]["id"]}
    is_draft = next(NUMBER) % 2  # its photo waits here: the character is made before the preview
    person = draft_character(stage, body) if is_draft else character(stage)
    return make_intent(person, "characters.preview", 3, stage, body=body)


def draft_character(stage: SandboxAccount, chosen: dict[str, Any]) -> Job:
    job = make_job(stage, JobKind.CHARACTER, None, draft__settings=chosen)
    stored_files.store_file(job, name="mira.png", content_type="image/png", content=png())
    return job


def train(stage: SandboxAccount) -> ChargeIntent:
    person = character(stage)
    genre = stage.response_data("GET", "/characters/genres")[0]["id"]
    path = f"/characters/{person.remote_id}/preview"
    previews = stage.response_data("POST", path, json={"genre_id": genre})["previews"]
    body = {"preview_id": previews[0]["id"], "name": "Mira", "age": 34, "gender": "female"}
    return make_intent(person, "characters.train", 10, stage, body=body)


def character(stage: SandboxAccount) -> Job:
    files = {"image": ("mira.png", png(), "image/png")}
    return make_job(
        stage, JobKind.CHARACTER, str(stage.response_data("POST", "/characters", files=files)["id"])
    )


INTENT_MAKERS: Mapping[str, Maker] = {
    "faceless.scripts": make_script_intent("faceless.scripts", "ai-visuals"),
    "faceless.render": make_render_intent("faceless.render", "ai-visuals"),
    "faceless.retry": retry,
    "faceless.export": export,
    "faceless.scrape_script": make_script_intent("faceless.scrape_script", "url-based"),
    "b_roll.scripts": make_script_intent("b_roll.scripts", "b-roll"),
    "b_roll.render": make_render_intent("b_roll.render", "b-roll"),
    "ai_visuals.scripts": make_script_intent("ai_visuals.scripts", "ai-visuals"),
    "ai_visuals.render": make_render_intent("ai_visuals.render", "ai-visuals"),
    "ai_visuals.upload": upload,
    "ai_visuals.regenerate": regenerate,
    "url_to_video.scrape_script": make_script_intent("url_to_video.scrape_script", "url-based"),
    "url_to_video.scripts": make_script_intent("url_to_video.scripts", "url-based"),
    "url_to_video.render": make_render_intent("url_to_video.render", "url-based"),
    "text_to_video.create": clip,
    "text_to_scene.prompt": scenes,
    "text_to_scene.clips": make_storyboard_intent("text_to_scene.clips", names_scenes=True),
    "text_to_scene.render": make_storyboard_intent("text_to_scene.render"),
    "voice_clones.create": clone,
    "ideas.discover": ideas,
    "characters.preview": preview,
    "characters.train": train,
}


def path_pattern(operation: str) -> str:
    """The pattern of the operation's path, for a fault."""
    return "/v2" + re.sub(r"{\w+}", "*", OPERATIONS[operation].path)
