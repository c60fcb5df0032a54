"""Each row of the table of states: who moves what, and what is seen afterwards."""

from __future__ import annotations

from typing import Any

from tests.contract import staging
from tests.contract.scenarios import ScenarioTable
from tests.contract.scenarios.charges import cost, fail
from tests.sandbox.conftest import READY_SETTINGS, SandboxClient

STATES = ScenarioTable()


def started(sandbox: SandboxClient) -> int:
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    assert sandbox.video(number)["status"] == "rendering"
    return number


def asset(sandbox: SandboxClient, places: dict[str, Any]) -> dict[str, Any]:
    shown = staging.response_data(sandbox.get(f"/v2/text-to-video/{places['id']}"))
    found: dict[str, Any] = shown["asset"]
    return found


def playable(sandbox: SandboxClient, url: str) -> bool:
    part = sandbox.get(url, headers={"Range": "bytes=0-3"})
    return part.status_code == 206 and len(part.content) == 4


@STATES.row("Faceless video (video.status): rendering → completed")
def a_render_that_succeeds(sandbox: SandboxClient) -> None:
    number = started(sandbox)
    sandbox.advance(60)
    video = sandbox.video(number)
    assert video["status"] == "completed" and video["failure"] is None
    assert playable(sandbox, video["url"])


@STATES.row("Faceless video: rendering → failed")
def a_render_that_fails(sandbox: SandboxClient) -> None:
    fail(sandbox, "faceless")
    number = sandbox.draft(**READY_SETTINGS)
    sandbox.post(f"/v2/faceless/{number}/render")
    sandbox.advance(60)
    video = sandbox.video(number)
    assert (video["status"], video["url"]) == ("failed", None)
    assert set(video["failure"]) == {"code", "message"}


@STATES.row("Faceless video: failed → rendering")
def a_retry(sandbox: SandboxClient) -> None:
    number = staging.failed(sandbox)["faceless"]
    before = sandbox.money()["balance"]
    answer = sandbox.post(f"/v2/faceless/{number}/retry")
    assert staging.response_data(answer)["video"]["status"] == "rendering"
    assert before - sandbox.money()["balance"] == cost(answer) > 0


@STATES.row("Text-to-video asset (asset.status): (created) → draft")
def a_clip_that_was_ordered(sandbox: SandboxClient) -> None:
    answer = sandbox.post("/v2/text-to-video", staging.CLIP)
    assert answer.status_code == 202 and cost(answer) > 0
    assert staging.response_data(answer)["asset"]["status"] == "draft"


@STATES.row("Text-to-video asset: draft → processing")
def a_clip_in_the_making(sandbox: SandboxClient) -> None:
    places = staging.clip(sandbox)
    sandbox.advance(5)
    found = asset(sandbox, places)
    assert (found["status"], found["url"]) == ("processing", None)


@STATES.row("Text-to-video asset: processing → success")
def a_clip_that_is_made(sandbox: SandboxClient) -> None:
    places = staging.clip(sandbox)
    sandbox.advance(120)
    found = asset(sandbox, places)
    assert found["status"] == "success" and playable(sandbox, found["url"])


@STATES.row("Text-to-video asset: processing → failed")
def a_clip_that_fails(sandbox: SandboxClient) -> None:
    fail(sandbox, "text-to-video")
    places = staging.clip(sandbox)
    sandbox.advance(120)
    found = asset(sandbox, places)
    assert (found["status"], found["url"]) == ("failed", None) and found["failure"]
    assert sandbox.money()["balance"] == 1000 and len(sandbox.money()["refunds"]) == 1


@STATES.row("Voice clone (status): (created) → completed is the state to poll for")
def a_voice_clone(sandbox: SandboxClient) -> None:
    path = f"/v2/voice-clones/{staging.clone(sandbox)['id']}"
    made = staging.response_data(sandbox.get(path))
    assert made["status"] != "completed" and made["preview_url"] is None
    voices = narration_voices(sandbox)
    sandbox.advance(120)
    made = staging.response_data(sandbox.get(path))
    assert made["status"] == "completed" and playable(sandbox, made["preview_url"])
    assert len(narration_voices(sandbox) - voices) == 1


def narration_voices(sandbox: SandboxClient) -> set[int]:
    options = staging.response_data(sandbox.get("/v2/faceless/options?only=voices"))
    return {voice["id"] for voice in options["mandatory"]["voices"]}


@STATES.row("Character (status): (created) → ready is the state to poll for")
def a_character(sandbox: SandboxClient) -> None:
    places = staging.previewed(sandbox)
    path = f"/v2/characters/{places['id']}"
    trained = sandbox.post(f"{path}/train", places["sent"]["json"])
    assert trained.status_code < 300
    assert staging.response_data(sandbox.get(path))["status"] != "ready"
    sandbox.advance(120)
    assert staging.response_data(sandbox.get(path))["status"] == "ready"


@STATES.row("Storyboard video (video.status):  → completed is the state to poll for")
def a_storyboard(sandbox: SandboxClient) -> None:
    number = staging.storyboard(scenes=2)(sandbox)["storyboard"]
    path = f"/v2/text-to-scene/{number}"
    exact = staging.response_data(sandbox.get(f"{path}/estimate"))["cost"]
    assert cost(sandbox.post(f"{path}/render")) == exact
    assert staging.response_data(sandbox.get(path))["video"]["status"] != "completed"
    sandbox.advance(600)
    video = staging.response_data(sandbox.get(path))["video"]
    assert video["status"] == "completed" and playable(sandbox, video["url"])
